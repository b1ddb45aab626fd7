#!/bin/sh
# SPDX-License-Identifier: MIT
# No circle between folders by call: of what is built, each folder calls functions of
# itself and of folders that do not call it, directly or by others. check-circles.sh sees
# includes; a header of one folder may declare what is defined in another.
#
# Two files stand above the folder that they are in: tools/portprof.c calls every verb, and
# backends/registry.c names every backend. What backends/backend.h declares is the contract:
# backends call it without knowing who has it, so it points at nobody.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}" "${NM:=nm}"
cd "$builddir" || exit 1
tmp=$(mktemp -d "${TMPDIR:-/tmp}/portprof-calls.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' 0

# Objects of the library and the command: "= SOURCE", then its symbols.
find base api backends compat tools -name '*.o' ! -name 'tests_*' ! -name '*.pb-c.o' \
	2>/dev/null | sort | while read -r object; do
	name=${object##*/}
	name=${name##*-}
	folder=${object%/*}
	source=${folder%/.libs}/${name%.o}.c
	[ -f "$srcdir/$source" ] || continue # it was there once
	echo "= $source"
	$NM -P "$object"
done >"$tmp/symbols" 2>/dev/null
if [ "$(grep -c '^=' "$tmp/symbols")" -lt 100 ]; then
	echo "skip: nothing is built here, or $NM does not read it"
	exit 77
fi

# circles SYMBOLS: the calls that circles are made of; false when there are some
# shellcheck disable=SC2016
circles() {
	LC_ALL=C ${AWK:-awk} -v contract="$srcdir/backends/backend.h" '
	function folder_of(path) {
		if (path != "tools/portprof.c" && path != "backends/registry.c")
			sub(/\/[^\/]*$/, "", path)
		return path
	}
	BEGIN {
		while ((getline line < contract) > 0)
			while (match(line, /ppi_[a-z0-9_]+[(\[]/)) {
				is_contract[substr(line, RSTART, RLENGTH - 1)] = 1
				line = substr(line, RSTART + RLENGTH)
			}
	}
	$1 == "=" { source = $2; here = folder_of(source); next }
	$1 !~ /^_?(ppi|portprof)_/ { next }
	$2 == "U" { uses[here, $1] = source; next }
	# of several places, such as a stub, the first
	$2 ~ /^[A-Z]$/ && !($1 in home) { home[$1] = here }
	$2 ~ /^[A-Z]$/ { has[here, $1] = 1 }
	END {
		for (use in uses) {
			split(use, end, SUBSEP)
			if (!(end[2] in home) || (use in has) || end[2] in is_contract)
				continue
			edge = end[1] SUBSEP home[end[2]]
			points[edge] = 1
			words[edge] = words[edge] "\n    " uses[use] ": " end[2]
			edges++
		}
		# what nobody calls, or what calls nobody, is in no circle
		do {
			changed = 0
			for (edge in points) {
				split(edge, end, SUBSEP)
				out[end[1]]++
				in_[end[2]]++
			}
			for (edge in points) {
				split(edge, end, SUBSEP)
				if (!out[end[2]] || !in_[end[1]]) {
					delete points[edge]
					changed = 1
				}
			}
			for (name in out)
				delete out[name]
			for (name in in_)
				delete in_[name]
		} while (changed)
		for (edge in points) {
			split(edge, end, SUBSEP)
			print end[1] " calls " end[2] ":" words[edge]
			bad++
		}
		print "check-calls: " edges " calls between folders, " (bad + 0) " edges of circles"
		exit bad > 0 || edges < 500
	}' "$1"
}

circles "$tmp/symbols" || exit 1

# That it sees one: base calling what its callers have.
{ cat "$tmp/symbols" && printf '= base/mutant.c\nppi_settings_read U\n'; } >"$tmp/mutant"
if circles "$tmp/mutant" >"$tmp/words" || ! grep -q '^base calls tools/record:' "$tmp/words"; then
	echo "a call from base to a verb is not seen"
	exit 1
fi
