#!/bin/sh
# SPDX-License-Identifier: MIT
# What portprof export writes for other tools is read by these tools: the total
# and the ten hottest functions are those of portprof report.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
command -v python3 >/dev/null || { echo "skip: no python3 to write profiles"; exit 77; }

make="$srcdir/tests/html/write_profile.py"
python3 "$make" small small.pb.gz
python3 "$make" weak weak.pb.gz
python3 "$make" deep 2000 deep.pb.gz
python3 "$make" hostile hostile.pb.gz
python3 "$srcdir/tests/cli/hostile.py" write evil.pb.gz

# ten COLUMN PROFILE: "NUMBER FUNCTION" of the ten hottest
ten() {
	"$portprof" report -n 0 -x '|' "$2" | awk -F'|' -v column="$1" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["function"] !~ /^\(/ && n++ < 10 {
			print $at[column], $at["function"] }' | sort
}
total() {
	"$portprof" report -n 0 -x '|' "$1" | awk -F'|' '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ s += $at["self"] } END { printf "%.0f\n", s }'
}

### callgrind_annotate

for one in small weak deep hostile evil; do
	"$portprof" export -f callgrind -o $one.callgrind $one.pb.gz 2>words
	same "callgrind, $one: status" 0 $?
	# names may begin with anything but what a line means
	same "callgrind, $one: no line but those of the format" "" "$(grep -vE \
		'^((#|version:|creator:|cmd:|positions:|events:|summary:|totals:) ?|(ob|cob|fl|cfi|fn|cfn|calls)=|[0-9]+ [0-9]+$|$)' \
		$one.callgrind)"
done
if command -v callgrind_annotate >/dev/null; then
	for one in small deep; do
		callgrind_annotate --threshold=100 --show-percs=no \
			$one.callgrind >out 2>words
		same "callgrind_annotate, $one: status" 0 $?
		same "callgrind_annotate, $one: the total" "$(total $one.pb.gz)" \
			"$(awk '/PROGRAM TOTALS/ { gsub(",", "", $1); print $1 }' out)"
		same "callgrind_annotate, $one: the ten hottest" \
			"$(ten self $one.pb.gz)" \
			"$(sed -n 's/^ *\([0-9,]*\)  [^:]*:\(.*\) \[.*/\1 \2/p' out |
				awk 'n++ < 10 { gsub(",", "", $1); print }' | sort)"
	done
	callgrind_annotate --threshold=100 --show-percs=no --inclusive=yes \
		small.callgrind >out
	same "callgrind_annotate: with callees" "$(ten total small.pb.gz)" \
		"$(sed -n 's/^ *\([0-9,]*\)  [^:]*:\(.*\) \[.*/\1 \2/p' out |
			awk '{ gsub(",", "", $1); print }' | sort)"
	for one in hostile evil; do
		callgrind_annotate --threshold=100 $one.callgrind >out 2>words
		same "callgrind_annotate, $one names: status" 0 $?
	done
else
	skip "callgrind_annotate" "Debian: valgrind"
fi

### The scripts for flame graphs, by their rules

for one in small deep; do
	"$portprof" export -f perf-script -o $one.perf $one.pb.gz
	same "perf-script, $one: status" 0 $?
	"$portprof" export -f folded $one.pb.gz | LC_ALL=C sort >chains
	same "perf-script, $one: the chains of folded" "$(cat chains)" \
		"$(python3 "$srcdir/tests/cli/perf_script.py" $one.perf |
			LC_ALL=C sort)"
done
echo 'main;(anonymous namespace)::f(int) 5' >anonymous.folded
"$portprof" export -q -f perf-script -o anonymous.perf anonymous.folded
same "perf-script: no frame is taken for a process's name" \
	'main;{anonymous namespace}::f(int) 5' \
	"$(python3 "$srcdir/tests/cli/perf_script.py" anonymous.perf)"
has "perf-script: a thread is told by pid and tid" ' 7/8 ' small.perf
same "perf-script: each sample has a line" \
	"$("$portprof" report -j small.pb.gz |
		python3 -c 'import json, sys; print(json.load(sys.stdin)["samples"])')" \
	"$(grep -c '^[^[:space:]]' small.perf)"
same "perf-script: without times each follows when the one before is over" "" \
	"$(python3 - small.perf <<'EOF2'
import re, sys
over = {}
for line in open(sys.argv[1]):
    head = re.match(r"\S.*? (\d+)/(\d+) (\d+)\.(\d{6}): +(\d+) ", line)
    if head:
        thread = head.group(1, 2)
        us = int(head.group(3)) * 1000000 + int(head.group(4))
        if us != over.get(thread, 0) // 1000:
            print(line)
        over[thread] = over.get(thread, 0) + int(head.group(5))
EOF2
)"
for one in weak hostile evil; do
	"$portprof" export -f perf-script -o $one.perf $one.pb.gz
	same "perf-script, $one: a reader gets the total" "$(total $one.pb.gz)" \
		"$(python3 "$srcdir/tests/cli/perf_script.py" $one.perf |
			awk '{ s += $NF } END { printf "%.0f\n", s }')"
done
has "perf-script: code without a name" '\[unknown\] \(/x/plugin.so\)' weak.perf

### OTLP profiles, by the published numbers of their fields

for one in small weak deep hostile evil; do
	"$portprof" export -f otlp -o $one.otlp $one.pb.gz 2>words
	same "otlp, $one: status" 0 $?
	python3 "$srcdir/tests/cli/otlp.py" $one.otlp >$one.json
	same "otlp, $one: an independent reader takes it" 0 $?
done
has "otlp: experimental, of which version" \
	'experimental: .*opentelemetry-proto 1\.11\.0' words
# of_otlp FILE EXPRESSION: of what that reader found, d
of_otlp() {
	python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
p = d["profiles"][0]
print(eval(sys.argv[2]))' "$1" "$2"
}
for one in small weak deep hostile evil; do
	same "otlp, $one: the rules of its dictionary" "[]" \
		"$(of_otlp $one.json 'd["broken"]')"
	same "otlp, $one: the total" "$(total $one.pb.gz)" \
		"$(of_otlp $one.json 'sum(p["functions"].values())')"
done
for one in small deep; do
	same "otlp, $one: the ten hottest" "$(ten self $one.pb.gz)" \
		"$(of_otlp $one.json '"\n".join("%d %s" % (n, f) for n, f in sorted(
			((n, f) for f, n in p["functions"].items()),
			reverse=True)[:10])' | sort)"
done
same "otlp: scope, event and unit" "portprof cpu nanoseconds" \
	"$(of_otlp small.json 'd["scope"] + " " + p["type"] + " " + p["unit"]')"
same "otlp: threads are told by pid and tid" \
	"$("$portprof" report -n 0 -x '|' --sort thread small.pb.gz | awk -F'|' '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ print $at["pid"] "/" $at["tid"], $at["self"] }' | sort)" \
	"$(of_otlp small.json '"\n".join("%s %d" % (k.split()[0], n)
		for k, n in p["threads"].items())' | sort)"

### google-pprof

"$portprof" export -f gperftools -o small.prof small.pb.gz
same "gperftools: status" 0 $?
same "gperftools: header, chains, trailer, mappings" "0 3 0 1000 0
400 3 | 300 4 | 100 3 | 150 2 | 50 1
trailer True
r-xp /x/app r-xp /lib/libc.so.6" "$(python3 -c '
import struct, sys
data = open("small.prof", "rb").read()
word = struct.calcsize("P")
at = 0
def take():
    global at
    at += word
    return int.from_bytes(data[at - word:at], sys.byteorder)
print(*[take() for _ in range(5)])
chains = []
while True:
    count, depth = take(), take()
    chain = [take() for _ in range(depth)]
    if count == 0:
        break
    chains.append("%d %d" % (count, depth))
print(" | ".join(chains))
print("trailer", depth == 1 and chain == [0])
lines = data[at:].decode().split("\n")[:-1]
print(*[" ".join(line.split()[i] for i in (1, 5)) for line in lines])')"
google=$(command -v google-pprof || :)
if [ -z "$google" ] || ! command -v nm >/dev/null; then
	skip "google-pprof" "Debian: google-perftools"
	tap_end
fi
record -q -F 1000 -o run.pb.gz -- "$burn" 300
if [ "$status" -ne 0 ]; then
	skip "google-pprof" "nothing can be recorded here"
	tap_end
fi
"$portprof" export -f gperftools -o run.prof run.pb.gz
"$google" --text "$burn" run.prof >out 2>words
same "google-pprof: status" 0 $?
same "google-pprof: the total" "$("$portprof" report -n 0 -x '|' run.pb.gz |
	awk -F'|' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ s += $at["samples"] } END { print s }')" \
	"$(awk '/^Total:/ { print $2 }' out)"
# it counts what was inlined into a function as that one's callees
same "google-pprof: the hottest function" \
	"$("$portprof" report -n 0 -x '|' run.pb.gz | awk -F'|' '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["function"] !~ /^\(/ {
			print $at["samples"], $at["function"]; exit }')" \
	"$(awk '/^ *[0-9]/ { print $4, $6; exit }' out)"
tap_end
