#!/bin/sh
# SPDX-License-Identifier: MIT
# Clauses of doc/contract.md and conformance cases belong together.
#
# A clause is a line that begins, after markup, with its name: LIFE-4. Its text
# continues to the next clause or heading. A case is a function of
# tests/conform/*.c named for it: life_4_stop_twice_is_ok. A clause that a
# conformance case cannot prove says "Proved by `tests/...`" for what does.
# Fails when a clause has neither, when a case has no clause, when such a file
# is not there, and when code or text cites a clause that does not exist.
set -eu
cd "${srcdir:-$(dirname "$0")/../..}"
contract=doc/contract.md
if [ ! -f $contract ]; then
	for case_file in tests/conform/*.c; do
		[ ! -f "$case_file" ] || { echo "cases without $contract"; exit 1; }
	done
	echo "skip: there is no $contract and no case yet"
	exit 77
fi
set -- tests/conform/*.c
[ -f "$1" ] || { echo "skip: $contract has no case yet"; exit 77; }
tmp=$(mktemp -d "${TMPDIR:-/tmp}/portprof-contract.XXXXXX")
trap 'rm -rf "$tmp"' 0
status=0

complain() {
	echo "$*"
	status=1
}

# "LIFE-4" or "LIFE-4 tests/unit/test_x.c", one line for each proof named.
# shellcheck disable=SC2016
LC_ALL=C ${AWK:-awk} '
match($0, /^[-#*| >]*[A-Z]+-[0-9]+/) {
	clause = substr($0, RSTART, RLENGTH)
	sub(/^[^A-Z]*/, "", clause)
	print clause
	proof = 0
}
/^#+ / && !/^#+ *[*]*[A-Z]+-[0-9]+/ { clause = "" }
{
	text = $0
	if (match(text, /Proved by/)) {
		proof = 1
		text = substr(text, RSTART)
	}
	while (clause != "" && proof && match(text, /`tests\/[^`]*`/)) {
		print clause, substr(text, RSTART + 1, RLENGTH - 2)
		text = substr(text, RSTART + RLENGTH)
	}
}' $contract >"$tmp/all"
awk 'NF == 1' "$tmp/all" >"$tmp/listed"
sort -u "$tmp/listed" >"$tmp/clauses"
for clause in $(sort "$tmp/listed" | uniq -d); do
	complain "$contract: $clause is there twice"
done
awk 'NF == 2' "$tmp/all" | while read -r clause file; do
	[ -e "$file" ] || echo "$contract: $clause is proved by $file, which does not exist"
done >"$tmp/lost"
if [ -s "$tmp/lost" ]; then
	cat "$tmp/lost"
	status=1
fi
awk 'NF == 2 { print $1 }' "$tmp/all" | sort -u >"$tmp/elsewhere"

# Cases: "static void life_4_words(void **state)".
cat tests/conform/*.c 2>/dev/null |
	sed -n 's/^static void \([a-z]*_[0-9][0-9]*\)_[a-z0-9_]*(void \*\*.*/\1/p' |
	tr 'a-z_' 'A-Z-' | sort -u >"$tmp/cases"
cat tests/conform/*.c 2>/dev/null |
	sed -n 's/^static void \([a-z0-9_]*\)(void \*\*.*/\1/p' |
	grep -v '^[a-z]*_[0-9][0-9]*_' >"$tmp/unnamed" || :
while read -r name; do
	complain "tests/conform: $name is not named for a clause"
done <"$tmp/unnamed"

sort -u "$tmp/cases" "$tmp/elsewhere" >"$tmp/proved"
for clause in $(comm -23 "$tmp/clauses" "$tmp/proved"); do
	complain "$contract: $clause has no case in tests/conform and names no proof"
done
for clause in $(comm -13 "$tmp/clauses" "$tmp/cases"); do
	complain "tests/conform: there are cases for $clause, which $contract lacks"
done

# Whatever cites a clause of a family that exists must cite one that exists.
families=$(sed 's/-.*//' "$tmp/clauses" | sort -u | tr '\n' '|' | sed 's/|$//')
[ -n "$families" ] || complain "$contract has no clause"
grep -rEoh "\\b($families)-[0-9]+\\b" base api backends compat tools doc tests \
	--include='*.[ch]' --include='*.md' 2>/dev/null |
	sort -u >"$tmp/cited" || :
for clause in $(comm -23 "$tmp/cited" "$tmp/clauses"); do
	complain "$clause is cited, but is no clause: $(grep -rlw -- "$clause" \
		base api backends compat tools doc tests | head -n 3 | tr '\n' ' ')"
done
echo "check-contract: $(wc -l <"$tmp/clauses" | tr -d ' ') clauses," \
	"$(wc -l <"$tmp/cases" | tr -d ' ') with cases," \
	"$(wc -l <"$tmp/elsewhere" | tr -d ' ') proved elsewhere"
exit $status
