#!/bin/sh
# SPDX-License-Identifier: MIT
# The header, the two manual pages and the library list the same settings; the header,
# the manual page, the command and the modules for Fortran, Python and Rust the same
# reasons of failures.
set -eu
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/portprof-settings.XXXXXX")
trap 'rm -rf "$tmp"' 0
header=$srcdir/api/portprof/config.h
page=$srcdir/doc/man/portprof_config.3
status=0

# NAME and FORM of each setting, from the table that reads them.
sed -n '/^static const struct ppi_setting settings/,/^};/p' \
	"$srcdir/api/core/config_settings.c" | tr -d '\n\t ' |
	sed 's/\.name="/\n/g' | sed -n 's/^\([a-z]*\)",.*\.form=PPI_FORM_\([A-Z]*\).*/\1 \2/p
		s/^\([a-z]*\)",\.form=PPI_FORM_\([A-Z]*\)}.*/\1 \2/p' |
	sort -u >"$tmp/table"
cut -d ' ' -f 1 "$tmp/table" >"$tmp/all"
sed -n '/ TEXT$/!s/ .*//p' "$tmp/table" >"$tmp/numbers"
[ "$(wc -l <"$tmp/all")" -gt 15 ] || { echo "no table of settings"; exit 1; }

compare() { # FILE-OF-NAMES WHERE [ALL-OR-NUMBERS]
	sort -u "$1" >"$tmp/found"
	comm -3 "${3:-$tmp/all}" "$tmp/found" >"$tmp/only"
	[ ! -s "$tmp/only" ] || {
		echo "$2 lacks a setting, or has (indented) one that is not there:"
		cat "$tmp/only"
		status=1
	}
}

# The sentence of portprof_config_set, and the list of _set_number.
tr '\n' ' ' <"$header" |
	sed 's/.*as in a configuration file: \([^.]*\)\..*/\1/' |
	tr -cs '[:lower:]' '\n' | sed '/^$/d' >"$tmp/sentence"
compare "$tmp/sentence" "config.h, portprof_config_set,"
sed -n '/of those that are numbers/,/E_INVALID/s/^ \*   \([a-z][a-z]*\)  .*/\1/p' \
	"$header" >"$tmp/list"
compare "$tmp/list" "config.h, portprof_config_set_number," "$tmp/numbers"
sed -n '/^\.Ss Settings by name/,/^from text/s/^\.Cm //p' "$page" |
	tr -cs '[:lower:]' '\n' | sed '/^$/d' >"$tmp/names"
compare "$tmp/names" "portprof_config(3)"
sed -n 's/^\.It Li \([a-z]*\) No =.*/\1/p' "$srcdir/doc/man/portprof.conf.5" \
	>"$tmp/file"
compare "$tmp/file" "portprof.conf(5)"

sed -n 's/^\tPORTPROF_\(REASON_[A-Z_]*\) = .*/\1/p' "$srcdir/api/portprof/status.h" |
	sort >"$tmp/reasons"
[ "$(wc -l <"$tmp/reasons")" -gt 15 ] || { echo "no list of reasons"; exit 1; }
reasons() { # FILE, PATTERN of the lines that list them
	sed -n "/$2/p" "$srcdir/$1" | grep -o 'REASON_[A-Z_]*' |
		sort -u >"$tmp/named"
	comm -23 "$tmp/reasons" "$tmp/named" >"$tmp/only"
	[ ! -s "$tmp/only" ] || {
		echo "$1 lacks a reason of status.h:"
		cat "$tmp/only"
		status=1
	}
}
reasons tools/messages.c '\[PORTPROF_REASON_[A-Z_]*\] = "'
reasons api/portprof_c.f90 'parameter'
reasons doc/man/portprof_status.3 '^[.]It Dv'
reasons api/python/portprof.py '^REASON_'
reasons examples/rust/portprof-sys/src/lib.rs '^pub const'
reasons examples/rust/portprof-sys/examples/layout.rs 'PORTPROF_REASON_'
reasons examples/rust/portprof/src/lib.rs ' = PORTPROF_REASON_'
echo "check-settings: $(wc -l <"$tmp/all" | tr -d ' ') settings"
exit $status
