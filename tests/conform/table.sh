#!/bin/sh
# SPDX-License-Identifier: MIT
# The clauses of the contract by the fixtures that ran: a table from the logs.
#
# usage: table.sh [LOG...]      without LOG: tests/conform/conform_*.log
#
# Clauses that pass on every fixture that ran stand in one line at the end.
#
# pass     every case that applies passed
# -NAME    the backend lacks the capability NAME, and refused it when asked;
#          what the clause says without it passed
# .        does not apply to this kernel, or cannot be provoked on it
# FAIL     a case failed
set -eu
[ $# -gt 0 ] || set -- tests/conform/conform_*.log
# make check TESTS=... may run none of them, and that is no failure.
[ -f "$1" ] || { echo "table.sh: no log of a conformance program"; exit 0; }

# shellcheck disable=SC2016
LC_ALL=C ${AWK:-awk} '
FNR == 1 {
	name = FILENAME
	sub(/.*conform_/, "", name)
	sub(/\.log$/, "", name)
	fixtures[++fixture_count] = name
}
/^1\.\.0 # SKIP/ {
	reason = $0
	sub(/^1\.\.0 # SKIP */, "", reason)
	not_run[name] = reason
}

# "ok 12 - life_4_stop_twice_is_ok # SKIP lacks chain, and refuses it"
/^(not )?ok [0-9]+ - [a-z]+_[0-9]+_/ {
	is_bad = ($1 == "not")
	text = $0
	sub(/^(not )?ok [0-9]+ - /, "", text)
	split(text, part, "_")
	clause = toupper(part[1]) "-" part[2]
	if (!(clause in seen)) {
		seen[clause] = 1
		clauses[++clause_count] = clause
	}
	cell = clause SUBSEP name
	if (is_bad)
		result[cell] = "FAIL"
	else if (result[cell] ~ /^(FAIL|-)/)
		next
	else if (match(text, /# SKIP lacks [a-z-]+/))
		result[cell] = "-" substr(text, RSTART + 13, RLENGTH - 13)
	else if (text !~ /# SKIP/)
		result[cell] = "pass"
	else if (result[cell] == "")
		result[cell] = "."
}

# Clauses of one family stand together, families in the order of first sight.
function sort_clauses(    i, j, one) {
	for (i = 1; i <= clause_count; i++) {
		one = clauses[i]
		sub(/-.*/, "", one)
		if (!(one in order))
			order[one] = i
	}
	for (i = 2; i <= clause_count; i++) {
		one = clauses[i]
		for (j = i - 1; j > 0 && comes_before(one, clauses[j]); j--)
			clauses[j + 1] = clauses[j]
		clauses[j + 1] = one
	}
}

function comes_before(a, b,    x, y) {
	split(a, x, "-")
	split(b, y, "-")
	if (x[1] != y[1])
		return order[x[1]] < order[y[1]]
	return x[2] + 0 < y[2] + 0
}

function pad(text, width) {
	while (length(text) < width)
		text = text " "
	return text
}

function passes_everywhere(clause,    f) {
	for (f = 1; f <= fixture_count; f++)
		if (!(fixtures[f] in not_run) && \
		    result[clause, fixtures[f]] != "pass")
			return 0
	return 1
}

END {
	sort_clauses()
	line = pad("clause", 10)
	for (f = 1; f <= fixture_count; f++) {
		width[f] = length(fixtures[f]) > 12 ? length(fixtures[f]) : 12
		line = line " " pad(fixtures[f], width[f])
	}
	print line
	for (c = 1; c <= clause_count; c++) {
		if (passes_everywhere(clauses[c])) {
			everywhere = everywhere " " clauses[c]
			continue
		}
		line = pad(clauses[c], 10)
		for (f = 1; f <= fixture_count; f++)
			line = line " " pad(result[clauses[c], fixtures[f]], \
				width[f])
		sub(/ +$/, "", line)
		print line
	}
	print "pass everywhere:" everywhere
	for (f = 1; f <= fixture_count; f++)
		if (fixtures[f] in not_run)
			print fixtures[f] " was not run: " not_run[fixtures[f]]
}' "$@"
