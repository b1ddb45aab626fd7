#!/bin/sh
# SPDX-License-Identifier: MIT
# In every backends/X/X.c the contract functions stand in the order of
# struct ppi_backend_ops, all of them, and the table names every field. An
# optional table (struct ppi_catalogue_ops, ppi_count_ways, ppi_count_parts, ppi_costs_ops, ppi_steering) is
# complete, in the order of backend.h, wherever it is; no slot is NULL.
set -eu
cd "${srcdir:-$(dirname "$0")/../..}"

files=
for dir in backends/*/; do
	name=$(basename "$dir")
	case $name in common | area) continue ;; esac
	[ ! -f "$dir$name.c" ] || files="$files $dir$name.c"
done
[ -n "$files" ] || { echo "no backend was found"; exit 1; }

# shellcheck disable=SC2016,SC2086
LC_ALL=C ${AWK:-awk} '
function complain(text) {
	print FILENAME ": " text
	bad++
}

# The contract: fields first, then slots "(*name)(", in order.
FILENAME == "backends/backend.h" {
	if (/^struct ppi_backend_ops *\{/)
		inside = 1
	else if (/^\};/)
		inside = 0
	else if (inside && match($0, /\(\*[a-z_]+\)\(/))
		order[++fields] = slot[++slots] = substr($0, RSTART + 2, RLENGTH - 4)
	else if (inside && /^\t[a-z].*;/) {
		field = $0
		sub(/;.*/, "", field)
		sub(/.*[ *]/, "", field)
		order[++fields] = field
	}
	next
}

FNR == 1 {
	finish()
	name = FILENAME
	sub(/.*\//, "", name)
	sub(/\.c$/, "", name)
	next_slot = next_field = 1
	pending = ""
	table = lacks_count = shares_count = 0
	backends++
}

# A definition begins in the first column and reaches "{" before ";".
match($0, "^[a-z].*[ *]" name "_[a-z_]+\\(") && !/=/ {
	pending = substr($0, 1, RSTART + RLENGTH - 2)
	sub(/.*[ *]/, "", pending)
	sub("^" name "_", "", pending)
}
pending != "" && /;/ && !/\{/ { pending = "" }
pending != "" && /^\{|\{$/ {
	see_function(pending)
	pending = ""
}

/struct ppi_backend_ops ppi_backend_/ && !/;/ { table = 1 }
table && /^\};/ { table = 2 }
table == 1 {
	text = $0
	while (match(text, /\.[a-z_]+ *=/)) {
		field = substr(text, RSTART + 1, RLENGTH - 1)
		sub(/ *=$/, "", field)
		see_field(field)
		text = substr(text, RSTART + RLENGTH)
	}
}

function see_function(which,    i) {
	for (i = 1; i <= slots && slot[i] != which; i++)
		;
	if (i > slots)
		return
	if (slot[next_slot] == "count" && i == next_slot + 1)
		lacks_count = 1
	else if (i != next_slot)
		complain(name "_" which " stands where " name "_" \
			slot[next_slot] " belongs")
	next_slot = i + 1
}

function see_field(which) {
	if (which != order[next_field])
		complain("the table has ." which " where ." \
			order[next_field] " belongs")
	next_field++
}

# Whoever counts nothing has the function that they share.
table == 1 && /\.count = ppi_no_count,/ { shares_count = 1 }

function finish() {
	if (name == "")
		return
	if (next_slot != slots + 1)
		complain(name "_" slot[next_slot] " is missing")
	if (lacks_count != shares_count)
		complain(name "_count and ppi_no_count: one of them")
	if (!table)
		complain("has no table struct ppi_backend_ops ppi_backend_" name)
	else if (next_field != fields + 1)
		complain("the table lacks ." order[next_field])
	name = ""
}

END {
	finish()
	if (slots < 9 || fields < slots)
		complain("struct ppi_backend_ops was not understood")
	print "check-order: " backends " backends, " slots " slots, " \
		(bad + 0) " mistakes"
	exit bad > 0
}' backends/backend.h $files

# shellcheck disable=SC2016,SC2086
find backends -name '*.c' | sort | LC_ALL=C xargs ${AWK:-awk} '
function complain(text) {
	print FILENAME ": " text
	bad++
}

FILENAME == "backends/backend.h" {
	if (/^struct ppi_(catalogue_ops|count_ways|count_parts|costs_ops|steering|heir_ops) *\{/)
		type = $2
	else if (/^\};/)
		type = ""
	else if (type != "" && match($0, /\(\*[a-z_]+\)\(/))
		slot[type, ++slots[type]] = substr($0, RSTART + 2, RLENGTH - 4)
	next
}

/^(static )?const struct ppi_(catalogue_ops|count_ways|count_parts|costs_ops|steering|heir_ops) [a-z_]+ *=/ {
	table = $0
	sub(/.*struct /, "", table)
	sub(/ .*/, "", table)
	next_slot = 1
	tables++
	next
}
table != "" && /^\};/ {
	if (next_slot != slots[table] + 1)
		complain(table " lacks ." slot[table, next_slot])
	table = ""
}
table != "" && match($0, /\.[a-z_]+ *=/) {
	field = substr($0, RSTART + 1, RLENGTH - 1)
	sub(/ *=$/, "", field)
	if (field != slot[table, next_slot])
		complain(table " has ." field " where ." slot[table, next_slot] \
			" belongs")
	if (/= *(NULL|0)/)
		complain(table "." field " is NULL")
	next_slot++
}

END {
	if (slots["ppi_catalogue_ops"] < 2 || slots["ppi_count_ways"] < 3 || \
	    slots["ppi_count_parts"] < 1)
		complain("the optional tables were not understood")
	print "check-order: " tables " optional tables, " (bad + 0) " mistakes"
	exit bad > 0
}' backends/backend.h
