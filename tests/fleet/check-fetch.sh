#!/bin/sh
# SPDX-License-Identifier: MIT
# portprof fetch: the requests as their protocols have them, decoded apart from
# portprof; what comes back is a profile as any; what misbehaves is bounded.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
. "$srcdir/tests/fleet/fleet.sh"
need_fleet

server_begin web
record -q -g -F 997 -o run.pb.gz -- "$burn" 300
"$portprof" push -q --to "pyroscope+$url" run.pb.gz
PYTHONPATH=$srcdir/tests/cli python3 - <<'EOF2'
import gzip
from pprof import message
sample = message(message(message(open("web/0001.body", "rb").read())[1][0])[2][0])
profile = sample[1][0]
open("web/packed", "wb").write(profile)
open("web/plain", "wb").write(gzip.decompress(profile))


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def frame(flags, data):
    return bytes([flags]) + len(data).to_bytes(4, "big") + data


answer = b"\x32" + varint(len(profile)) + profile + b"\x48\x05"
ok = frame(128, b"grpc-status: 0\r\ngrpc-message: \r\n")
open("web/parca", "wb").write(frame(0, answer) + ok)
open("web/half", "wb").write((frame(0, answer) + ok)[:-200])
open("web/none", "wb").write(
    frame(128, b"grpc-status: 5\r\ngrpc-message: no such thing\r\n"))
EOF2
"$portprof" report -j run.pb.gz >own.json

# fetch ARGUMENT...: $status, words, and the last request in $request and $body
fetch() {
	rm -f got.pb.gz
	"$portprof" fetch -o got.pb.gz "$@" >printed 2>words
	status=$?
	request=$(find web -name '*.request' | sort | tail -n 1)
	body=${request%request}body
}
# with what is inlined in it, which a profile on its way has as a function
weight_of() {
	"$portprof" report -j "$1" | python3 -c '
import json, sys
print([x["total_weight"] for x in json.load(sys.stdin)["functions"]
       if x["name"] == "burn_much"])'
}

### Pyroscope: a profile as it is, not packed

server_says file:plain
fetch --from "pyroscope+$url" --service burn --host h1 --label env=prod --since 24h
same "pyroscope: status" 0 "$status"
has "pyroscope: request" '^POST /querier.v1.QuerierService/SelectMergeProfile HTTP/1.1' "$request"
has "pyroscope: type" '^Content-Type: application/proto' "$request"
PYTHONPATH=$srcdir/tests/cli python3 - "$body" >asked <<'EOF2'
import sys, time
from pprof import message
m = message(open(sys.argv[1], "rb").read())
assert set(m) == {1, 2, 3, 4}, sorted(m)
print(m[1][0].decode(), m[2][0].decode())
now = time.time() * 1000
assert 0 <= now - m[4][0] < 600000, now - m[4][0]
assert m[4][0] - m[3][0] == 86400000, m
EOF2
same "pyroscope: what is asked" \
	'process_cpu:cpu:nanoseconds:cpu:nanoseconds {service_name="burn",host="h1",env="prod"}' \
	"$(cat asked)"
same "pyroscope: what is had" "$(weight_of run.pb.gz)" "$(weight_of got.pb.gz)"

### Parca: gRPC-web

server_says file:parca,application/grpc-web+proto
fetch --from "parca+$url" --service 'a"b'
same "parca: status" 0 "$status"
has "parca: request" '^POST /parca.query.v1alpha1.QueryService/Query HTTP/1.1' "$request"
has "parca: type" '^Content-Type: application/grpc-web\+proto' "$request"
PYTHONPATH=$srcdir/tests/cli python3 - "$body" >asked <<'EOF2'
import sys
from pprof import message
data = open(sys.argv[1], "rb").read()
assert data[0] == 0 and int.from_bytes(data[1:5], "big") == len(data) - 5
m = message(data[5:])
merge = message(m[3][0])
start, end = message(merge[2][0]), message(merge[3][0])
assert end[1][0] - start[1][0] == 3600
print(m[1][0], m[5][0], merge[1][0].decode())
EOF2
same "parca: what is asked" \
	'2 1 process_cpu:cpu:nanoseconds:cpu:nanoseconds:delta{job="a\"b"}' "$(cat asked)"
same "parca: what is had" "$(weight_of run.pb.gz)" "$(weight_of got.pb.gz)"
for bad in 'half is not whole' 'none gRPC.status.5'; do
	server_says "file:${bad%% *},application/grpc-web+proto"
	fetch --from "parca+$url"
	same "parca, $bad: status" 1 "$status"
	has "parca, $bad: words" "${bad#* }" words
done

### A file

server_says file:packed
fetch --from "$url/x.pb.gz"
has "a file: request" '^GET /x.pb.gz HTTP/1.1' "$request"
same "a file: what is had" "$(weight_of run.pb.gz)" "$(weight_of got.pb.gz)"

### What misbehaves

printf 'garbage' >web/wrong
for bad in 'file:wrong no profile' 'page a web page' '500 status 500' 'empty Empty' \
	'cut bytes remaining|closed' 'huge longer than' 'endless longer than' \
	'hang timed out|Timeout' 'redirect not followed'; do
	server_says "${bad%% *}"
	fetch --from "pyroscope+$url" --timeout 2 --max-memory 4M
	same "$bad: status" 1 "$status"
	has "$bad: words" "${bad#* }" words
	check "$bad: no file" [ ! -e got.pb.gz ]
done
server_says away
fetch --from "clickhouse+$url/fleet"
same "one of its servers is away: status" 1 "$status"
has "one of its servers is away: which" 'is away \(\[::1\]:9000\)' words
: >web/nothing
server_says file:nothing
fetch --from "pyroscope+$url" --service none
same "nothing: status" 1 "$status"
has "nothing: words" 'has nothing of that' words

### Refusals

for wrong in "--from otlp+$url" '--from nowhere' "--from $url --since 1" \
	"--from $url --since 1h --until 2h" "--from $url --label x" ''; do
	# shellcheck disable=SC2086
	fetch $wrong
	same "fetch $wrong: status" 2 "$status"
done
### ClickHouse: sums, frames by their hash, chains of hashes

python3 - <<'EOF2'
import struct
sums = b"cpu\tnanoseconds\t7\t2\t2000\t1\ncpu\tnanoseconds\t8\t1\t1000\t1\n"
frames = b"11\tmain\tburn\n12\tit\\'s \\t odd\tlib.so\n"
chain = struct.pack("<QBQQ", 7, 2, 12, 11)
new = struct.pack("<QBQ", 9, 1, 99)  # of a batch that came meanwhile
for name, data in {
    "sums": sums, "frames": frames, "chains": chain + new,
    "few": b"cpu\tnanoseconds\t7", "open": sums[:-1], "words": b"Code: 241. Memory",
    "cut": chain[:-3], "long": chain[:8] + b"\xff" * 10,
}.items():
    open("web/" + name, "wb").write(data)
EOF2
# clickhouse SUMS FRAMES CHAINS
clickhouse() {
	server_says "file:$1" "file:$2" "file:$3"
	fetch --from "clickhouse+$url/fleet" --service burn
}
clickhouse sums frames chains
same "clickhouse: status" 0 "$status"
"$portprof" report -j got.pb.gz >got.json
same "clickhouse: what is had" "[2, \"it's \\\\t odd\", 2000]" "$(python3 -c '
import json
r = json.load(open("got.json"))
print([r["samples"]] + [x for f in r["functions"] if f["self_weight"]
                        for x in (f["name"].replace("\t", "\\t"), f["self_weight"])])')"
has "clickhouse: a stack that is not there" \
	"1 samples are left out, as the table 'stacks' does not have their stacks" words
clickhouse open frames chains
same "clickhouse, no last newline: status" 0 "$status"
for bad in 'few frames chains' 'words frames chains' 'sums sums chains' \
	'sums words chains' 'sums frames cut' 'sums frames long'; do
	# shellcheck disable=SC2086
	clickhouse $bad
	same "clickhouse, $bad: status" 1 "$status"
	has "clickhouse, $bad: words" 'what came back is no table of portprof' words
	check "clickhouse, $bad: no file" [ ! -e got.pb.gz ]
done
tap_end
