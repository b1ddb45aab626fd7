#!/bin/sh
# SPDX-License-Identifier: MIT
# doc/perf-event-open.md names every constant and attribute field of the
# kernel's header, and every reached row names a test that is there. A newer
# kernel's header fails here until the page says what portprof does with it.
# PORTPROF_PERF_HEADER stands in for the header of this machine.
set -eu
cd "${srcdir:-$(dirname "$0")/../..}"
page=doc/perf-event-open.md
header=${PORTPROF_PERF_HEADER-/usr/include/linux/perf_event.h}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/portprof-page.XXXXXX")
trap 'rm -rf "$tmp"' 0
status=0

# Rows: state, how, test, and then the names of the first column.
# shellcheck disable=SC2016
sed -n 's/^| `/`/p' "$page" | LC_ALL=C ${AWK:-awk} -F ' *[|] *' '
$2 !~ /^(reached|inside|out)$/ || $3 == "" || ($2 == "reached") != ($4 != "") {
	print "row without state, way or test: " $1 > "/dev/stderr"
	bad = 1
}
{
	count = split($1, names, /[`, ]+/)
	for (i = 1; i <= count; i++)
		if (names[i] != "")
			print names[i], $4
}
END { exit bad }' >"$tmp/rows" || status=1

while read -r name test; do
	[ -z "$test" ] || [ -f "$test" ] || {
		echo "$name: there is no $test"
		status=1
	}
done <"$tmp/rows"

# A test that reaches the row has the name, or something of the way there. Tests that
# go through all names of a table (test_event_tables), or whose every case is
# about the row, have none of its words.
# shellcheck disable=SC2016
sed -n 's/^| `/`/p' "$page" | LC_ALL=C ${AWK:-awk} -F ' *[|] *' '
function has_word(text, words,    count, list, i) {
	count = split(words, list, /[^A-Za-z0-9_-]+/)
	for (i = 1; i <= count; i++)
		if (length(list[i]) > 2 && index(text, list[i]))
			return 1
	return 0
}
$2 == "reached" && $4 !~ /test_event_tables/ {
	text = ""
	while ((getline line < $4) > 0)
		text = text line "\n"
	close($4)
	if (!has_word(text, $1) && !has_word(text, $3)) {
		print "no word of the row is in its test: " $1 ", " $4
		bad = 1
	}
}
END { exit bad }' || status=1

cut -d ' ' -f 1 "$tmp/rows" | sort >"$tmp/names"
uniq -d "$tmp/names" | sed 's/^/named twice: /' >"$tmp/twice"
[ ! -s "$tmp/twice" ] || { cat "$tmp/twice"; status=1; }

if [ ! -r "$header" ]; then
	echo "check-perf-page: no $header, so only the page was read"
	exit $status
fi
# Comments away, then enumerators, macros, and the fields of the attribute.
LC_ALL=C sed -e 's|/\*.*\*/||' -e '/\/\*/,/\*\//d' "$header" >"$tmp/header"
{
	sed -n 's/^[[:space:]]*\(PERF_[A-Z0-9_]*\)[[:space:]]*[=,].*/\1/p' "$tmp/header"
	sed -n 's/^#define[[:space:]]*\(PERF_[A-Z0-9_]*\)[[:space:]].*/\1/p' "$tmp/header"
	sed -n '/^struct perf_event_attr {/,/^};/p' "$tmp/header" |
		sed -n 's/^.*[[:space:]]\([a-z_][a-z_0-9]*\)[[:space:]]*\(:[[:space:]]*[0-9]*\)\{0,1\}[,;].*/\1/p'
} | sort -u >"$tmp/kernel"
# shellcheck disable=SC2016
LC_ALL=C ${AWK:-awk} '
FNR == NR {
	if (sub(/\*$/, ""))
		begins[++count] = $0
	else
		is_named[$0] = 1
	next
}
{
	found = $0 in is_named
	for (i = 1; i <= count && !found; i++)
		found = index($0, begins[i]) == 1
	if (!found) {
		print "the header has " $0 ", the page has no row for it"
		bad = 1
	}
	all++
}
END {
	print "check-perf-page: " all " names in the header"
	exit bad || all < 200
}' "$tmp/names" "$tmp/kernel" || status=1
exit $status
