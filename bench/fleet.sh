#!/bin/sh
# SPDX-License-Identifier: MIT
# What a month of a fleet costs in ClickHouse: bytes a sample, the hottest functions of a
# service in a week, two versions fetched and compared.
#
# usage: bench/fleet.sh BUILD_DIRECTORY [SAMPLES [RUNS [STORE]]]
#
# The engine of a current ClickHouse, which npm's chdb has, or, where PORTPROF_ENGINE is
# old, a server of tests/fleet/clickhouse.sh gets SAMPLES rows (100000000) of 50 hosts, 20
# services and 30 days by the tables of share/portprof/clickhouse, and then each question
# RUNS times (5). Samples are of 20,000 stacks a service, some far more often than
# others, of 20 to 39 functions. Takes half an hour, and 10 GB below TMPDIR or in the
# folder STORE, which stays: the next run asks what is in it. A folder with chdb in
# node_modules may be named by PORTPROF_CHDB.
set -u
builddir=$(cd "$1" && pwd)
srcdir=$(cd "$(dirname "$0")/.." && pwd)
samples=${2:-100000000}
runs=${3:-5}
store=
[ -z "${4-}" ] || { mkdir -p "$4" && store=$(cd "$4" && pwd); }
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
. "$srcdir/tests/fleet/fleet.sh"
. "$srcdir/tests/fleet/clickhouse.sh"
need_fleet
if [ "${PORTPROF_ENGINE-now}" = old ]; then
	clickhouse_get
	clickhouse_begin 1 || clickhouse_skip "ClickHouse does not start"
	at=http://127.0.0.1:$(clickhouse_port 1 0)
	server=$(cat "$tmp/node1/pid")
else
	if [ -z "${PORTPROF_CHDB-}" ]; then
		mkdir npm
		(cd npm && npm install chdb) >npm.words 2>&1 ||
			clickhouse_skip "no chdb: $(tail -n 1 npm.words)"
		PORTPROF_CHDB=$PWD/npm
	fi
	store=${store:-$tmp/store}
	mkdir -p "$store"
	rm -f "$store/port"
	NODE_PATH=$PORTPROF_CHDB/node_modules node "$srcdir/tests/fleet/chdb.js" \
		"$store" >words 2>&1 &
	server=$!
	at_end="$at_end; kill $server 2>/dev/null"
	wait_for test -f "$store/port" || clickhouse_skip "chdb does not start"
	at=http://127.0.0.1:$(cat "$store/port")
fi
engine=clickhouse+$at/portprof

# ask QUERY [DATABASE]
ask() {
	python3 -c '
import sys, urllib.error, urllib.request
try:
    sys.stdout.write(urllib.request.urlopen("%s/?database=%s" % (
        sys.argv[1], sys.argv[3]), sys.argv[2].encode(), 7200).read().decode())
except urllib.error.HTTPError as error:
    sys.exit(error.read().decode())' "$at" "$1" "${2-portprof}"
}
hosts=50 services=20 days=30 stacks=20000
minute=$((samples / days / 1440)) # samples in it

now() {
	date +%s.%N
}
# since TIME: seconds
since() {
	echo "$1 $(now)" | awk '{ printf "%.2f", $2 - $1 }'
}

# The I-th function of stack K of service S, from the one that runs: those near the
# root are of many stacks.
hash='cityHash64(S, toUInt64(I), intDiv(K, bitShiftLeft(toUInt64(1), I)))'
function="concat('shop::module', toString($hash % 37), '::function_', toString($hash % 3000))"
# at S K I
at() {
	echo "$function" | sed "s/\bS\b/$1/g; s/\bK\b/$2/g; s/\bI\b/$3/g"
}
name="if(s = 1, 'checkout', concat('service-', toString(s)))"

# The schema, and all samples.
fill() {
	ask 'CREATE DATABASE portprof' default
	sed 's/--.*//' "$srcdir/share/portprof/clickhouse/schema.sql" | tr '\n' ' ' |
		tr ';' '\n' | grep -v '^ *$' >statements
	while IFS= read -r statement; do
		ask "$statement" || exit 1
	done <statements
	began=$(now)
	ask "INSERT INTO stacks SELECT $name AS service, cityHash64(s, k) AS stack,
		arrayMap(i -> $(at s k i), range(20 + k % 20)) AS functions,
		arrayMap(i -> concat('lib', toString(i % 7), '.so.1'), range(20 + k % 20)) AS modules,
		now() AS seen
		FROM (SELECT intDiv(number, $stacks) AS s, number % $stacks AS k
			FROM numbers($((services * stacks))))" || exit 1
	echo "stacks: $((services * stacks)) in $(since "$began") s"
	began=$(now)
	first=$(($(date +%s) / 60 * 60 - days * 86400))
	for day in $(seq $days); do
		ask "INSERT INTO samples SELECT
			toDateTime($first + ($day - 1) * 86400 + m * 60) AS time,
			$name AS service, concat('host-', toString(h)) AS host,
			if(h % 2, '1.5', '1.4') AS version, 'cpu' AS event,
			'nanoseconds' AS unit, concat('worker-', toString(s)) AS process,
			['env=prod'] AS labels, cityHash64(s, k) AS stack,
			$(at s k 0) AS function, 'lib0.so.1' AS module, toUInt64(1) AS samples,
			toUInt64(52631579) AS weight,
			concat(lower(hex(toUInt64(1700000000000000000 + m * 60000000000))), '-',
				lower(hex(cityHash64(h, m, $day)))) AS batch,
			toUInt32(r) AS row, toUInt8(1) AS first
		FROM (SELECT intDiv(number, $minute) AS m, number % $hosts AS h,
			intDiv(number % $minute, $hosts) AS r,
			toUInt64(floor($services * pow(intHash32(number + $day * 100000000) / 4294967296, 2))) AS s,
			toUInt64(floor($stacks * pow(intHash64(number + $day * 100000000) / 18446744073709551616, 3))) AS k
			FROM numbers($((minute * 1440))))" || exit 1
		echo "# day $day of $days: $(since "$began") s" >&2
	done
	echo "samples: $((minute * 1440 * days)) in $(since "$began") s"
}

ask 'SELECT 1 FROM samples LIMIT 1' >/dev/null 2>&1 || fill
echo "engine: $(ask 'SELECT version()'), samples: $(ask 'SELECT count() FROM samples')"
ask "SELECT table, sum(rows), sum(bytes) AS size, round(size / $samples, 2)
	FROM system.parts WHERE active AND database = 'portprof' GROUP BY table
	ORDER BY table" >bytes
# what fills a view has the number of that
ask "SELECT uuid, name FROM system.tables WHERE database = 'portprof'" >views 2>/dev/null ||
	: >views
while read -r number view; do
	sed "s/^.inner_id.$number/$view/" bytes >bytes.new && mv bytes.new bytes
done <views
echo "table, rows, bytes, bytes a sample:"
cat bytes

# timed WORDS COMMAND..., or ask QUERY: the median and the extremes of RUNS, and the CPU
# time of the command and of the server in it, which a busy machine does not stretch
cat >timed.py <<'EOF2'
import os
import subprocess
import sys
import time
import urllib.request

url, server, runs, words = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]


def ticks():
    with open("/proc/%d/stat" % server) as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run():
    if sys.argv[5] == "ask":
        urllib.request.urlopen(url, sys.argv[6].encode(), timeout=3600).read()
    else:
        subprocess.run(sys.argv[5:], check=True, stdout=subprocess.DEVNULL)


taken = []
for _ in range(runs):
    own, engine, began = os.times(), ticks(), time.monotonic()
    run()
    now = os.times()
    taken.append((time.monotonic() - began, now[2] + now[3] - own[2] - own[3],
                  ticks() - engine))
wall, own, engine = (sorted(one) for one in zip(*taken))
middle = len(taken) // 2
print("%-42s %6.2f s (%.2f to %.2f), CPU time %.2f s own, %.2f s of the engine" % (
    words, wall[middle], wall[0], wall[-1], own[middle], engine[middle]), flush=True)
EOF2
timed() {
	timed_words=$1
	shift
	python3 timed.py "$at/?database=portprof" "$server" "$runs" "$timed_words" "$@" || exit 1
}
# fetch VERSION: a command line
fetch="$portprof fetch -q --from $engine --service checkout --since 7d --version"
week="service = 'checkout' AND event = 'cpu'"
echo "load: $(cut -d ' ' -f 1-3 /proc/loadavg)"
timed "nothing (SELECT 1)" ask "SELECT 1"
timed "hottest functions of a week, by hours" ask "SELECT function, module,
	sum(weight) / 1e9 AS seconds FROM services_hourly WHERE $week
	AND hour >= now() - 7 * 86400 GROUP BY function, module ORDER BY seconds DESC LIMIT 10"
timed "hottest functions of a week, by samples" ask "SELECT function, module,
	sum(weight) / 1e9 AS seconds FROM samples WHERE $week
	AND time >= now() - 7 * 86400 GROUP BY function, module ORDER BY seconds DESC LIMIT 10"
# shellcheck disable=SC2086
timed "fetch of a version, a week" $fetch 1.4 -o 1.4.pb.gz
timed "two versions, a week, and diff" sh -c "$fetch 1.4 -o 1.4.pb.gz &&
	$fetch 1.5 -o 1.5.pb.gz && $portprof diff 1.4.pb.gz 1.5.pb.gz"
timed "diff alone" "$portprof" diff 1.4.pb.gz 1.5.pb.gz
timed "all stacks of a service as rows, in the engine" ask "SELECT stack, any(functions),
	any(modules) FROM stacks WHERE stack GLOBAL IN (SELECT stack FROM samples WHERE $week
	AND time >= now() - 7 * 86400 AND version = '1.4') GROUP BY stack FORMAT Null"
"$portprof" report -j -i 1.4.pb.gz | python3 -c '
import json, sys
r = json.load(sys.stdin)
print("fetched: %d samples" % r["samples"])'
wc -c 1.4.pb.gz
