#!/bin/sh
# SPDX-License-Identifier: MIT
# portprof push: what is sent to each engine, decoded apart from portprof; a server
# that misbehaves in every way is bounded and reported; no secret is ever said.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
. "$srcdir/tests/fleet/fleet.sh"
need_fleet

# The zero makes the argument a text that no number of the file has.
record -q -g -F 997 -o run.pb.gz -- "$burn" 0400
"$portprof" report -j run.pb.gz >own.json
# OTLP has inlined functions on their own.
"$portprof" report -j --inline run.pb.gz >inlined.json
host=$(uname -n)
server_begin web

# push ARGUMENT...: $status and words
push() {
	"$portprof" push "$@" >printed 2>words
	status=$?
}
# json FILE EXPRESSION: of the object r, and f(NAME), a function's own samples in a
# report
json() {
	python3 -c '
import json, sys
r = json.load(open(sys.argv[1]))
def f(name):
    return sum(x["self_weight"] for x in r["functions"] if x["name"] == name)
print(eval(sys.argv[2]))' "$@" 2>&1
}

### Pyroscope

push --to "pyroscope+$url" --tag env=prod --tag env=test --tag team=a run.pb.gz
same "pyroscope: status" 0 "$status"
has "pyroscope: request" '^POST /push.v1.PusherService/Push HTTP/1.1' web/0001.request
has "pyroscope: type" '^Content-Type: application/proto' web/0001.request
python3 "$srcdir/tests/fleet/push.py" pyroscope web/0001.body >a.json
same "pyroscope: one series" 1 "$(json a.json 'len(r)')"
same "pyroscope: labels" \
	"[('__name__', 'process_cpu'), ('env', 'test'), ('host', '$host'), ('service_name', 'burn'), ('team', 'a')]" \
	"$(json a.json 'sorted((k, v) for k, v in r[0]["labels"].items() if k != "version")')"
check "pyroscope: the version is the build-id" grep -q "\"version\": \"[0-9a-f]\{16,\}\"" a.json
check "pyroscope: an id" grep -Eq '"id": "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"' a.json
python3 "$srcdir/tests/cli/pprof.py" web/0001.body.0.pb.gz >b.json
same "pyroscope: functions" "$(json own.json 'f("burn_much")')" \
	"$(json b.json 'r["outer"]["burn_much"]')"
same "pyroscope: samples" "$(json own.json 'r["samples"]')" "$(json b.json 'r["samples"]')"
same "pyroscope: no labels of samples" "{}" "$(json b.json 'r["threads"]')"
push -q --to "pyroscope+$url" run.pb.gz
python3 "$srcdir/tests/fleet/push.py" pyroscope web/0002.body >c.json
same "pyroscope: the same file has the same id" "$(json a.json 'r[0]["id"]')" \
	"$(json c.json 'r[0]["id"]')"
push -q --to "pyroscope+$url" --sample-labels thread --service shop --version 7 run.pb.gz
python3 "$srcdir/tests/fleet/push.py" pyroscope web/0003.body >c.json
same "--service, --version" "('shop', '7')" \
	"$(json c.json '(r[0]["labels"]["service_name"], r[0]["labels"]["version"])')"
python3 "$srcdir/tests/cli/pprof.py" web/0003.body.0.pb.gz >b.json
same "--sample-labels thread" "['burn']" "$(json b.json 'list(r["threads"])')"

### A profile that does not say when it was measured

printf 'main;f 5\nmain;g 3\n' >folded.txt
server_begin timeless
for engine in pyroscope parca otlp clickhouse; do
	push --to "$engine+$url" folded.txt
	same "no time, $engine: status" 1 "$status"
	has "no time, $engine: words" "'folded.txt' does not say when.*--time 20[0-9-]*T" words
	push --to "$engine+$url" --body body folded.txt
	same "no time, $engine: --body" 1 "$status"
	push --to "$engine+$url" --spool waiting folded.txt
	same "no time, $engine: --spool" 1 "$status"
done
check "no time: no request" [ ! -e timeless/0001.request ]
check "no time: nothing is written" [ ! -e body ]
same "no time: nothing waits" 0 "$(count_of waiting/*.pb.gz)"
for when in 2026-11-30T08:15 2026-11-30T08:15:00Z 1796026500; do
	push --to "pyroscope+$url" --body body --time "$when" folded.txt
	same "--time $when: status" 0 "$status"
	python3 "$srcdir/tests/fleet/push.py" pyroscope body >a.json
	"$portprof" report -j body.0.pb.gz >b.json
	same "--time $when" 1796026500000000000 "$(json b.json 'r["start_ns"]')"
done
for when in '' 2026-13-01 2026-11-30T24:00 2026-11-30T08 -1 now 0 1969-12-31 99999999999 \
	2026-02-29 2026-02-31 2100-02-29 2026-04-31 ' 2026-11-30' '2026- 11-30' 2026-+11-30 \
	2026-11--3 '2026-11-30T 8:15' 2026-11-30T08:+5 2026-11-30:15 2026-11-30T08:15: \
	2026-11-30T08:15:-1 2026-1-5 2026-01-5 2026-1-05 2026-11-30T8:15 2026-11-30T08:5 \
	2026-11-30T08:15:0; do
	push --to "pyroscope+$url" --time "$when" folded.txt
	same "--time '$when' is refused" 2 "$status"
done
has "--time with too few digits: words" 'all its digits, such as 2026-01-05T08:15' words
push --to "pyroscope+$url" --body body --time 2028-02-29T23:59:59 folded.txt
python3 "$srcdir/tests/fleet/push.py" pyroscope body >a.json
"$portprof" report -j body.0.pb.gz >b.json
same "--time of a leap year's day" 1835481599000000000 "$(json b.json 'r["start_ns"]')"
push --to "pyroscope+$url" --spool waiting --time 2026-11-30 folded.txt
same "--time with --spool: status" 2 "$status"
has "--time with --spool: words" '--time takes no --spool' words
push --to "$url/" folded.txt
same "no time, a web server: status" 0 "$status"
server=web
url=http://127.0.0.1:$(cat web/port)

### Parca, OpenTelemetry, a file

push -q --to "parca+$url" run.pb.gz
has "parca: request" '^POST /api/profiles/writeraw HTTP/1.1' web/0004.request
has "parca: type" '^Content-Type: application/json' web/0004.request
python3 "$srcdir/tests/fleet/push.py" parca web/0004.body >a.json
same "parca: labels" "['__name__', 'host', 'job', 'version']" \
	"$(json a.json 'sorted(r[0]["labels"])')"
python3 "$srcdir/tests/cli/pprof.py" web/0004.body.0.pb.gz >b.json
same "parca: functions" "$(json own.json 'f("burn_much")')" \
	"$(json b.json 'r["outer"]["burn_much"]')"

push -q --to "otlp+$url" --tag team=a run.pb.gz
has "otlp: request" '^POST /v1development/profiles HTTP/1.1' web/0005.request
has "otlp: type" '^Content-Type: application/x-protobuf' web/0005.request
python3 "$srcdir/tests/cli/otlp.py" web/0005.body >a.json
same "otlp: resource" "[('host.name', '$host'), ('service.name', 'burn'), ('team', 'a')]" \
	"$(json a.json 'sorted((k, v) for k, v in r["resource"].items() if k != "service.version")')"
same "otlp: functions" "$(json inlined.json 'f("burn_much")')" \
	"$(json a.json 'r["profiles"][0]["functions"]["burn_much"]')"
same "otlp: the dictionary" "[]" "$(json a.json 'r["broken"]')"

push -q --to "$url/up/x.pb.gz" run.pb.gz
has "a file: request" '^PUT /up/x.pb.gz HTTP/1.1' web/0006.request
"$portprof" report -j web/0006.body >b.json
same "a file: with its account" "$(json own.json 'r["total_weight"]')" \
	"$(json b.json 'r["total_weight"]')"

### What does not leave the host

push -q --to "$url/x" --no-arguments --no-paths --no-host run.pb.gz
python3 -c 'import gzip; print(gzip.open("web/0007.body").read())' >plain
has_not "--no-arguments" '\b0400\b' plain
has "--no-arguments: but the command" 'burn' plain
has_not "--no-paths" "$(dirname "$burn")" plain
has_not "--no-host" "host: $host" plain
record -q --no-names -o nameless.pb.gz -- "$burn" 100
for names in '' --no-symbols; do
	# shellcheck disable=SC2086 # none, or one
	push -q --to "pyroscope+$url" --body body $names nameless.pb.gz
	python3 "$srcdir/tests/fleet/push.py" pyroscope body >a.json
	python3 "$srcdir/tests/cli/pprof.py" body.0.pb.gz >"symbols$names.json"
done
check "code is sent with names" test "$(json symbols.json 'r["functions"] > 0')" = True
same "--no-symbols: without" 0 "$(json symbols--no-symbols.json 'r["functions"]')"
push -q --to "$url/x" --except 'b*,x' run.pb.gz
"$portprof" report -j web/0008.body >b.json 2>words
same "--except: nothing is left" 0 "$(json b.json 'r["samples"]')"
push -q --to "$url/x" --only 'x,bu?n' run.pb.gz
"$portprof" report -j web/0009.body >b.json 2>words
same "--only: all" "$(json own.json 'r["samples"]')" "$(json b.json 'r["samples"]')"

### Secrets

printf 'Authorization: Bearer s3cret-a\nX-More: s3cret-b\n' >secret
push --to "$url/x" --headers secret run.pb.gz
same "a file that others read: status" 1 "$status"
has "a file that others read: words" "others may read 'secret'.*chmod 600" words
chmod 600 secret
PORTPROF_PUSH_USER=me:s3cret-c
export PORTPROF_PUSH_USER
push --to "$url/x?token=s3cret-d" --headers secret --tenant blue run.pb.gz
cat words printed >said
last=$(find web -name '*.request' | sort | tail -n 1)
has "bearer" '^Authorization: Bearer s3cret-a' "$last"
has "another header" '^X-More: s3cret-b' "$last"
has "tenant" '^X-Scope-OrgID: blue' "$last"
unset PORTPROF_PUSH_USER
PORTPROF_PUSH_USER=me:pw push -q --to "$url/x" run.pb.gz
last=$(find web -name '*.request' | sort | tail -n 1)
has "basic" '^Authorization: Basic bWU6cHc=' "$last"
PORTPROF_PUSH_TOKEN=s3cret-e push -q --to "$url/x" run.pb.gz
last=$(find web -name '*.request' | sort | tail -n 1)
has "token" '^Authorization: Bearer s3cret-e' "$last"
server_says 400
push --to "$url/x?token=s3cret-d" --headers secret --tries 1 run.pb.gz
cat words printed >>said
has_not "no secret is said" s3cret said
push --to "http://me:pw@127.0.0.1/" run.pb.gz
same "a password in the URL: status" 2 "$status"
has_not "a password in the URL: not repeated" 'me:pw' words

### A server that misbehaves

# bad MODE WORDS: refused in time, with these words
bad() {
	server_says "$1"
	push --to "pyroscope+$url" --timeout 2 --tries 1 run.pb.gz
	same "$1: status" 1 "$status"
	has "$1: words" "'run.pb.gz' was not sent to $url: .*$2" words
	check "$1: one line" [ "$(wc -l <words)" -eq 1 ]
}
bad hang 'timed out|Timeout'
bad deaf 'timed out|Timeout'
bad slow 'timed out|Timeout'
bad continue 'timed out|Timeout'
bad middle 'reset|failure|Send'
bad garbage '.'
bad empty 'Empty reply'
bad old '.'
bad cut 'bytes remaining|closed'
bad huge 'longer than 65536 bytes'
bad endless 'longer than 65536 bytes'
bad headers '.'
bad line '.'
bad chunk '.'
bad redirect 'redirects to http://127.0.0.1:1/elsewhere, which is not followed'
has_not "redirect: no secret of the other place" 'secret=' words
bad loop 'which is not followed'
bad page 'a web page came back'
bad escape 'status 400: \\x1b\]0;title\\x07 no'
bad 400 'status 400: said 400'
bad 401 'status 401'
bad 413 'status 413'
bad 429 'status 429'
bad 500 'status 500'
bad 503 'status 503'
server_says partial
push --to "otlp+$url" --tries 1 run.pb.gz
same "partial: status" 1 "$status"
has "partial: words" '3 profiles were rejected: no room' words
push --to "pyroscope+http://127.0.0.1:1" --tries 1 run.pb.gz
has "nobody there" 'Failed to connect' words

### Again

rm -f web/*.request web/*.body
server_says 500 503 empty ok
push --to "pyroscope+$url" run.pb.gz
same "taken at last: status" 0 "$status"
same "taken at last: tries" 4 "$(grep -l . web/*.request | wc -l)"
has "what it waits for" 'status 500: said 500 more; again in [0-9.]+ s' words
same "each try is the same" 1 "$(for file in web/*.body; do cksum <"$file"; done | sort -u | wc -l)"

### By a spool

server_says 503
push --to "$url/" --spool spool --tries 1 run.pb.gz
same "not now: status" 1 "$status"
has "not now: words" '0 sent, 0 refused, 0 dropped, 1 waiting' words
server_says 422
push --to "$url/" --spool spool --tries 1
same "refused: status" 1 "$status"
has "refused: words" 'refuses a batch: status 422: said 422 more; it is kept as' words
same "refused: kept apart" 1 "$(count_of spool/refused/*.pb.gz)"
has "refused: the answer" '^more$' spool/refused/*.answer
server_says ok
push --to "$url/" --spool spool
same "and waits no more" 0 "$status"

# what is too much is dropped, the oldest first, and is counted
rm -rf spool
server_says 503
size=$(($(wc -c <run.pb.gz) * 5 / 2))
for _ in 1 2 3; do
	push --to "$url/" --spool spool --spool-size $size --tries 1 run.pb.gz
done
has "dropped: said" 'batch that could not be sent in time was dropped' words
same "dropped: two are kept" 2 "$(count_of spool/*.pb.gz)"
has "dropped: counted" '^dropped 1$' spool/counts
has "dropped: samples, too" "^dropped_samples $(json own.json 'r["samples"]')\$" spool/counts
# and what is too old
touch -d '2001-01-01' spool/*.pb.gz
for file in spool/*.pb.gz; do
	mv "$file" "spool/0c${file#spool/18}"
	mv "${file%.pb.gz}.meta" "spool/0c$(basename "${file%.pb.gz}" | cut -c 3-).meta"
done
server_says ok
push --to "$url/" --spool spool --keep 24h
same "too old: nothing is sent" 0 "$(count_of spool/*.pb.gz)"
has "too old: counted" '^dropped 3$' spool/counts

# one for which the engine has no server now does not keep back the others, and five do
# not: some are tried each time
rm -rf spool
server_says 503
for number in 1 2 3; do
	push --to "$url/" --spool spool --tries 1 run.pb.gz
	same "away, $number: waits" $number "$(count_of spool/*.pb.gz)"
	sleep 0.01
done
rm -f web/*.request web/*.body
oldest=$(find spool -name '*.pb.gz' | sort | head -n 1)
oldest=$(basename "$oldest" .pb.gz)
server_says "but:$oldest,500"
push --to "$url/" --spool spool --tries 1
same "away: status" 1 "$status"
has "away: words" '2 sent, 0 refused, 0 dropped, 1 waiting' words
has "away: said" 'status 500: said 500' words
same "away: that one is kept" "$oldest" "$(basename "$(echo spool/*.pb.gz)" .pb.gz)"
same "away: each was tried once" 3 "$(count_of web/*.request)"
server_says ok
push --to "$url/" --spool spool --tries 1
same "away: it is sent when its server is there" 0 "$(count_of spool/*.pb.gz)"
server_says 503
for _ in 1 2 3 4 5 6; do
	push -q --to "$url/" --spool spool --tries 1 run.pb.gz
	sleep 0.01
done
newest=$(find spool -name '*.pb.gz' | sort | tail -n 1)
newest=$(basename "$newest" .pb.gz)
server_says "but:PUT,500"
rm -f web/*.request web/*.body
push --to "$url/" --spool spool --tries 1
same "all are away: after three in a row it waits" 3 "$(count_of web/*.request)"
server_says 500 500 500 ok 500
rm -f web/*.request web/*.body
push --to "$url/" --spool spool --tries 2
has "the others are tried the next time" '[1-3] sent, 0 refused, 0 dropped' words
check "and the newest, too" grep -q "$newest" web/*.request
server_says ok
push -q --to "$url/" --spool spool --tries 1
same "and all are sent" 0 "$(count_of spool/*.pb.gz)"

### ClickHouse: what may be there is not sent before that is known

# inserts: how many requests brought samples
inserts() {
	grep -lE '^POST .*INTO.{1,3}samples' web/*.request | wc -l
}
printf '0\n' >web/zero
rm -f web/*.request web/*.body
printf '1\n' >web/one
for unknown in 'hang timed out|Timeout' '500 status 500' 'page answers no number'; do
	# how many try to, and what is there
	for known in '' 'ok file:one'; do
		# shellcheck disable=SC2086
		server_says $known ok "${unknown%% *}"
		push --to "clickhouse+$url/fleet" --timeout 2 --tries 1 run.pb.gz
		same "clickhouse, $known ${unknown%% *}: status" 1 "$status"
		has "clickhouse, $known ${unknown%% *}: words" "${unknown#* }" words
		same "clickhouse, $known ${unknown%% *}: nothing is sent" 0 "$(inserts)"
	done
done
server_says 500
push --to "clickhouse+$url/fleet" --tries 1 run.pb.gz
same "clickhouse, others are not known: status" 1 "$status"
# first NUMBER: whether what is sent is a first try, where so many are told
first() {
	printf '%s\n' "$1" >web/others
	rm -f web/*.request web/*.body
	server_says ok file:others ok file:zero ok
	push -q --to "clickhouse+$url/fleet" run.pb.gz
	same "clickhouse, none is there, $1: status" 0 "$status"
	same "clickhouse, none is there, $1: sent once" 1 "$(inserts)"
	body=$(grep -lE '^POST .*INTO.{1,3}samples' web/*.request)
	same "clickhouse, $1: a first try" "$2" \
		"$(gunzip -c <"${body%.request}.body" | cut -f 16 | sort -u)"
}
first 1 1
first 3 0
first 2 0
first 0 0

# one of its servers is away, which is to have stacks: they are kept for it, the batch goes
server_says "but:seen%29%20FORMAT%20TabSeparated&insert_distributed_sync=1,500"
rm -rf spool web/*.request web/*.body
push --to "clickhouse+$url/fleet" --spool spool --tries 1 run.pb.gz
same "clickhouse, stacks of one that is away: status" 0 "$status"
same "clickhouse, stacks of one that is away: sent" 1 "$(inserts)"
same "clickhouse, stacks of one that is away: kept for it" 1 \
	"$(grep -l 'stacks.*&insert_distributed_sync=0' web/*.request | wc -l)"
server_says 500
push --to "clickhouse+$url/fleet" --spool spool --tries 1 run.pb.gz
same "clickhouse, it takes nothing: status" 1 "$status"

### By hand

push --to "otlp+$url" --body body run.pb.gz
same "--body: status" 0 "$status"
has "--body: the command" "^curl --fail -X POST -H 'Content-Type: application/x-protobuf' --data-binary @'body' '$url/v1development/profiles'\$" printed
python3 "$srcdir/tests/cli/otlp.py" body >a.json
same "--body: what is sent" "$(json inlined.json 'f("burn_much")')" \
	"$(json a.json 'r["profiles"][0]["functions"]["burn_much"]')"

### Refusals

for wrong in '--to nowhere' '--to ftp://x/' '--to http://' '--to kafka+http://x/' \
	'--tag =x' '--tag 1a=x' '--keep 3' '--keep 0d' '--timeout 0'; do
	# shellcheck disable=SC2086
	push --to "$url/" $wrong run.pb.gz
	same "$wrong: status" 2 "$status"
done
push --to "$url/" no-such.pb.gz
same "no such file: status" 1 "$status"
push run.pb.gz
has "no place" 'no place given: --to URL' words
tap_end
