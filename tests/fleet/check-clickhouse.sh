#!/bin/sh
# SPDX-License-Identifier: MIT
# ClickHouse as the fleet's store, by a real server: what is fetched is what was measured,
# nothing twice; queries and diffs; what a server of two is to have waits while it is
# away. check-agents.sh has many agents.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
. "$srcdir/tests/fleet/fleet.sh"
. "$srcdir/tests/fleet/clickhouse.sh"
need_fleet
clickhouse_get

begin() {
	clickhouse_begin "$1" || clickhouse_skip "ClickHouse does not start: $(
		tail -n 1 "$tmp/node$1/words")"
}
begin 1
begin 2
check "the schema" clickhouse_schema 1
check "the schema again" clickhouse_schema 2
one=clickhouse+http://127.0.0.1:$(clickhouse_port 1 0)/portprof

# sums DATABASE: samples and weights of all batches, each once
sums() {
	clickhouse 1 'SELECT sum(samples), sum(weight) FROM samples FINAL' "$1"
}

### One server

record -q -g -F 997 -o run.pb.gz -- "$burn" 400
"$portprof" report -j run.pb.gz >own.json
check "push" "$portprof" push -q --to "$one" --tag env=prod --tag "odd=it's \\ odd" run.pb.gz
check "push again" "$portprof" push -q --to "$one" --tag env=prod run.pb.gz
expected=$(python3 -c '
import json
r = json.load(open("own.json"))
print(r["samples"], sum(x["self_weight"] for x in r["functions"]), sep="\t")')
same "what is there" "$expected" "$(sums portprof)"
same "its account" "$expected" \
	"$(clickhouse 1 'SELECT samples, weight FROM batches FINAL' portprof)"
same "the labels" "['env=prod','odd=it\\'s \\\\ odd']" \
	"$(clickhouse 1 'SELECT DISTINCT labels FROM samples' portprof)"
same "the rollup" "$expected" "$(clickhouse 1 \
	'SELECT sum(samples), sum(weight) FROM functions_hourly' portprof)"
same "the rollup of all hosts" "$expected" "$(clickhouse 1 \
	'SELECT sum(samples), sum(weight) FROM services_hourly' portprof)"

check "fetch" "$portprof" fetch -q --from "$one" --service burn --since 24h \
	--label env=prod -o back.pb.gz
claim "fetched: samples" "r['samples'] == ${expected%	*}"
claim "fetched: weights" "weights == ${expected#*	}"
claim "fetched: functions" 'f("burn_much") > f("burn_little") > 0'
claim "fetched: chains" 'any(x["name"] == "main" and x["total_weight"] > x["self_weight"] for x in r["functions"])'
judge back.pb.gz
# what processes made while running has no process's number
for process in 17 18; do
	printf 'node %d/%d 7.000001: 1000000 cpu-clock: \n\t1139 made (/tmp/perf-%d.map)\n\n' \
		$process $process $process
done >made.txt
"$portprof" export -q -f pprof -o made.pb.gz made.txt
# it has no time
"$portprof" push -q --to "$one" --service made made.pb.gz 2>words
same "a profile without a time: status" 1 $?
has "a profile without a time: words" 'does not say when.*with --time 20..-' words
same "a profile without a time: nothing is there" 0 \
	"$(clickhouse 1 "SELECT count() FROM stacks WHERE service = 'made'" portprof)"
when=$(date -u +%Y-%m-%dT%H:%M:%S)
check "push of generated code" "$portprof" push -q --to "$one" --service made --time "$when" \
	made.pb.gz
check "the same again" "$portprof" push -q --to "$one" --service made --time "$when" \
	made.pb.gz
same "it is there once, at that time" "2	$(date -u -d "$when" +%s)" "$(clickhouse 1 \
	"SELECT sum(samples), toUInt32(any(time)) FROM samples WHERE service = 'made'" portprof)"
same "generated code: one module" "made	[generated code]" \
	"$(clickhouse 1 "SELECT DISTINCT function, module FROM functions_hourly
		WHERE service = 'made'" portprof)"

# the labels of samples of one function
for wrong in '--service none' '--host none' '--version none' '--label env=test' \
	'--label a=b' '-e none'; do
	# shellcheck disable=SC2086
	"$portprof" fetch --from "$one" $wrong -o none.pb.gz 2>words
	same "$wrong: status" 1 $?
	has "$wrong: words" 'has nothing of that|has no samples of that' words
	check "$wrong: no file" [ ! -e none.pb.gz ]
done
"$portprof" fetch --from "$one" --service "x' OR '1'='1" -o none.pb.gz 2>words
same "a quote is no way in" 1 $?

# two versions
record -q -g -F 997 -o other.pb.gz -- "$burn" 200
"$portprof" push -q --to "$one" --version two other.pb.gz
"$portprof" fetch -q --from "$one" --service burn --version two -o new.pb.gz
"$portprof" fetch -q --from "$one" --service burn --label env=prod -o old.pb.gz
"$portprof" diff old.pb.gz new.pb.gz >printed 2>words
same "diff of two versions" 0 $?
has "diff: the function" 'burn_much' printed

### Queries of doc/fleet.md

awk '/^```sql/ { n++; out = "query" n ".sql"; next } /^```/ { out = "" }
	out { print >out }' "$srcdir/doc/fleet.md"
for query in query*.sql; do
	clickhouse 1 "$(sed "s/checkout/burn/; s/;\$//" "$query")" portprof \
		>"$query.out" 2>words
	same "$query: status" 0 $?
	check "$query: rows" [ -s "$query.out" ]
	[ -s words ] && sed 's/^/# /' words
done

### What a server that is away is to have waits with its agent

check "two servers" clickhouse_both
both=clickhouse+http://127.0.0.1:$(clickhouse_port 1 0)/fleet
before=$(sums fleet | cut -f 1)
clickhouse_end 2 -KILL
"$portprof" push -q --to "$both" --spool waiting --tries 1 --version three \
	run.pb.gz 2>words
check "a server is away: push fails" [ $? -ne 0 ]
has "and says which" "127\.0\.0\.1:$(clickhouse_port 2 1)" words
check "the batch waits" [ -n "$(find waiting -name '*.meta')" ]
# fetch says so at once; what the others have is all that they have
there=$(clickhouse 1 'SELECT sum(samples) FROM samples FINAL' portprof)
timeout 20 "$portprof" fetch --from "$both" -o part.pb.gz 2>words
same "a server is away: fetch fails" 1 $?
has "and says which, and what can be done" \
	"is away \\(127\.0\.0\.1:$(clickhouse_port 2 1).*--partial" words
check "and writes nothing" [ ! -e part.pb.gz ]
check "fetch --partial" timeout 20 "$portprof" fetch --partial --from "$both" -o part.pb.gz 2>words
has "--partial: says so" "was away \\(127\.0\.0\.1:$(clickhouse_port 2 1)\\): what it has is missing" words
has "--partial: the file says so" 'what it has is missing' "$(gunzip -c part.pb.gz >part.pb; echo part.pb)"
"$portprof" report -j part.pb.gz >part.json
same "--partial: all of the others' samples" "$there" \
	"$(python3 -c 'import json; print(json.load(open("part.json"))["samples"])')"
begin 2
# one that answers no more
kill -STOP "$(cat "$tmp/node2/pid")"
timeout 60 "$portprof" fetch --from "$both" --timeout 2 -o part.pb.gz 2>words
same "a server hangs: fetch fails in its time" 1 $?
has "and says so" 'timed out after 20[0-9][0-9]' words
kill -CONT "$(cat "$tmp/node2/pid")"
check "the server is back" "$portprof" push -q --to "$both" --spool waiting --tries 20
check "nothing waits" [ -z "$(find waiting -name '*.meta')" ]
same "it is there, once" $((before + ${expected%	*})) "$(sums fleet | cut -f 1)"
### A first try that arrives after the second

mkdir network
python3 "$srcdir/tests/fleet/proxy.py" network "$(clickhouse_port 2 0)" &
at_end="$at_end; kill $! 2>/dev/null"
wait_for test -f network/port || { echo "skip: no proxy"; exit 77; }
two=clickhouse+http://127.0.0.1:$(clickhouse_port 2 0)/portprof
# all_sums SERVICE: what is there, in the sums by hour, and fetched
all_sums() {
	clickhouse 2 "SELECT sum(samples), sum(weight) FROM samples FINAL
		WHERE service = '$1'" portprof
	for table in functions_hourly services_hourly; do
		clickhouse 2 "SELECT sum(samples), sum(weight) FROM (
			SELECT service, samples, weight FROM $table UNION ALL
			SELECT service, samples, weight FROM retried_hourly)
			WHERE service = '$1'" portprof
	done
	"$portprof" fetch -q --from "$two" --service "$1" -o late.pb.gz
	"$portprof" report -j late.pb.gz | python3 -c '
import json, sys
r = json.load(sys.stdin)
print(r["samples"], sum(x["self_weight"] for x in r["functions"]), sep="\t")'
}
four_times=$(printf '%s\n%s\n%s\n%s' "$expected" "$expected" "$expected" "$expected")
# first_of SERVICE MIN-OR-MAX: which tries are there
first_of() {
	clickhouse 2 "SELECT $2(first) FROM samples WHERE service = '$1'" portprof
}
# shellcheck disable=SC2317
is_there() {
	[ "$(first_of "$1" max)" = 1 ]
}
# late SERVICE FIRST SECOND: two tries, of which something between holds the first; each is
# the options, and the file if there is no spool
late() {
	echo late >network/mode
	# shellcheck disable=SC2086
	"$portprof" push -q --to "clickhouse+http://127.0.0.1:$(cat network/port)/portprof" \
		--service "$1" --timeout 2 --tries 1 $2 2>words
	check "$1: the first try has no answer" [ $? -ne 0 ]
	# shellcheck disable=SC2086
	check "$1: the second arrives" "$portprof" push -q --to "$two" --service "$1" --tries 20 $3
	same "$1: it is there once" "$four_times" "$(all_sums "$1")"
	same "$1: as the second" 0 "$(first_of "$1" max)"
	echo pass >network/mode
	check "$1: the first arrives" wait_for is_there "$1"
	same "$1: it is there once with the first" "$four_times" "$(all_sums "$1")"
	clickhouse 2 'OPTIMIZE TABLE samples FINAL' portprof
	same "$1: and when rows were merged" "$four_times" "$(all_sums "$1")"
	same "$1: as the first" 1 "$(first_of "$1" min)"
}
late spooled "--spool late run.pb.gz" "--spool late"
# without a spool the second try is another process, which knows nothing of the first; other
# bytes are another batch
gunzip -c run.pb.gz | gzip -1 >again.pb.gz
late forgotten again.pb.gz again.pb.gz
### An insert that runs on in the server, which nobody waits for any more

"$portprof" push --to "$two" --service long --body body run.pb.gz >curl
name=$(sed -n "s/.*&query_id=\([^&']*\).*/\1/p" curl)
python3 -c '
import sys, urllib.request
urllib.request.urlopen(sys.argv[1], b"SELECT sum(sleepEachRow(0.1)) FROM system.numbers")
' "http://127.0.0.1:$(clickhouse_port 2 0)/?max_block_size=1&max_threads=1&query_id=$name" 2>long &
long=$!
# shellcheck disable=SC2317
is_running() {
	[ "$(clickhouse 2 "SELECT count() FROM system.processes WHERE query_id = '$name'")" = 1 ]
}
check "an insert runs" wait_for is_running
"$portprof" push --to "$two" --service long --tries 1 run.pb.gz 2>words
same "another of the same batch: status" 1 $?
has "another of the same batch is refused" 'already running' words
clickhouse 2 "KILL QUERY WHERE query_id = '$name' SYNC" >killed
wait $long
check "when it has ended" "$portprof" push -q --to "$two" --service long --tries 20 run.pb.gz
same "the batch is there once" "$four_times" "$(all_sums long)"
clickhouse 2 'TRUNCATE TABLE stacks' portprof
"$portprof" fetch --from "$two" --service spooled -o late.pb.gz 2>words
has "stacks that are gone are said" "'stacks' does not have their stacks" words
tap_end
