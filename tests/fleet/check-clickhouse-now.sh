#!/bin/sh
# SPDX-License-Identifier: MIT
# The tables, inserts and queries on the engine of a current ClickHouse, which npm's
# chdb has. A folder with it in node_modules may be named by PORTPROF_CHDB.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
. "$srcdir/tests/fleet/fleet.sh"
need_fleet
need_command node

if [ -z "${PORTPROF_CHDB-}" ]; then
	need_command npm
	mkdir npm
	(cd npm && timeout 300 npm install chdb) >npm.words 2>&1 || {
		echo "skip: no chdb: $(grep -v '^$' npm.words | tail -n 1)"
		exit 77
	}
	PORTPROF_CHDB=$PWD/npm
fi
mkdir now
NODE_PATH=$PORTPROF_CHDB/node_modules node "$srcdir/tests/fleet/chdb.js" now \
	>now/words 2>&1 &
at_end="$at_end; kill $! 2>/dev/null"
wait_for test -f now/port || { echo "skip: chdb does not start"; exit 77; }
at=http://127.0.0.1:$(cat now/port)
engine=clickhouse+$at/portprof

# ask QUERY [DATABASE]
ask() {
	python3 -c '
import sys, urllib.error, urllib.request
try:
    sys.stdout.write(urllib.request.urlopen("%s/?database=%s" % (
        sys.argv[1], sys.argv[3]), sys.argv[2].encode()).read().decode())
except urllib.error.HTTPError as error:
    sys.exit(error.read().decode())' "$at" "$1" "${2-portprof}"
}

echo "# $(ask 'SELECT version()' default)"
ask 'CREATE DATABASE portprof' default
sed 's/--.*//' "$srcdir/share/portprof/clickhouse/schema.sql" | tr '\n' ' ' |
	tr ';' '\n' | grep -v '^ *$' >statements
while IFS= read -r statement; do
	check "schema: $(echo "$statement" | cut -c 1-60)" ask "$statement"
done <statements

record -q -g -F 997 -o run.pb.gz -- "$burn" 300
"$portprof" report -j run.pb.gz >own.json
check "push" "$portprof" push -q --to "$engine" --tag "odd=it's \\ odd" run.pb.gz
check "push again" "$portprof" push -q --to "$engine" --tag "odd=it's \\ odd" run.pb.gz
expected=$(python3 -c '
import json
r = json.load(open("own.json"))
print(r["samples"], sum(x["self_weight"] for x in r["functions"]), sep="\t")')
same "what is there" "$expected" "$(ask 'SELECT sum(samples), sum(weight) FROM samples')"
same "the rollup" "$expected" \
	"$(ask 'SELECT sum(samples), sum(weight) FROM functions_hourly')"
same "the rollup of all hosts" "$expected" \
	"$(ask 'SELECT sum(samples), sum(weight) FROM services_hourly')"
check "fetch" "$portprof" fetch -q --from "$engine" --service burn --since 24h \
	--label "odd=it's \\ odd" -o back.pb.gz
claim "fetched" "r['samples'] == ${expected%	*} and weights == ${expected#*	}"
claim "fetched: functions" 'f("burn_much") > f("burn_little") > 0'
judge back.pb.gz

awk '/^```sql/ { n++; out = "query" n ".sql"; next } /^```/ { out = "" }
	out { print >out }' "$srcdir/doc/fleet.md"
for query in query*.sql; do
	ask "$(sed "s/checkout/burn/; s/;\$//" "$query")" >"$query.out" 2>words
	same "$query: status" 0 $?
	check "$query: rows" [ -s "$query.out" ]
	[ ! -s words ] || sed 's/^/# /' words
done
tap_end
