#!/bin/sh
# SPDX-License-Identifier: MIT
# Worn phrases in what the command and the library say: each of them made a
# sentence that a reader had to read twice. Manual pages and sources are checked
# whole, comments too; in strings a phrase is also found where it is broken.
set -eu
cd "${srcdir:-$(dirname "$0")/../..}"

worn='whoever|besides|what there is not|can(not)? be had|cannot be told|tell them apart|tells? (of|what|which|nothing)|goes on'
status=0
! grep -nE "$worn" doc/man/*.[1-8] || status=1
! grep -rnE --include='*.[ch]' "$worn" base api backends compat tools tests examples \
	bench || status=1

# shellcheck disable=SC2016,SC2086
find api backends compat tools -name '*.c' | sort | LC_ALL=C xargs ${AWK:-awk} -v worn="$worn" '
FNR == 1 { text = "" }
/^#include/ { next }
{
	rest = $0
	while (match(rest, /"([^"\\]|\\.)*"/)) {
		text = text substr(rest, RSTART + 1, RLENGTH - 2)
		rest = substr(rest, RSTART + RLENGTH)
	}
	# adjacent strings are one: judge them when something else follows
	if (rest ~ /^[ \t]*$/ && text != "")
		next
	if (match(text, worn)) {
		print FILENAME ":" FNR ": \"" substr(text, RSTART, RLENGTH) "\": " text
		bad++
	}
	text = ""
}
END {
	print "check-words: " (bad + 0) " worn phrases"
	exit bad > 0
}' || status=1
exit $status
