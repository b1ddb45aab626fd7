#!/bin/sh
# SPDX-License-Identifier: MIT
# Fields of samples as labels of a file: asked for, bounded, and no sum changes.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
touch=$programs/touch
need_command python3
record -q -b perf -e page-faults@1 --labels data-address -o try.pb.gz -- true
if [ "$status" -ne 0 ]; then
	echo "skip: $(tail -n 1 "$tmp/words")"
	exit 77
fi

# shellcheck disable=SC2317 # called by check
# labels FILE EXPRESSION: by another reader; l is a list of (labels, samples)
labels() {
	python3 - "$srcdir/tests/cli" "$@" <<'EOF'
import sys
sys.path.insert(0, sys.argv[1])
from pprof import first, gzip, message, numbers
profile = message(gzip.open(sys.argv[2]).read())
texts = [t.decode() for t in profile[6]]
l = []
for sample in map(message, profile.get(2, [])):
    found = {}
    for label in map(message, sample.get(3, [])):
        text = texts[first(label, 2)]
        found[texts[first(label, 1)]] = text or first(label, 3)
    l.append((found, numbers(sample[2])[0]))
s = sum(n for _, n in l)
sys.exit(not eval(sys.argv[3]))
EOF
}

record -e page-faults@1 --labels data-address -o few.pb.gz -- "$touch" 500
same "addresses: status" 0 "$status"
check "each sample has its own" labels few.pb.gz \
	'sum(n for f, n in l if "data_address" in f) == s >= 500'
check "pages that were touched are 4 KiB apart or more" labels few.pb.gz \
	'len({int(f["data_address"], 16) >> 12 for f, n in l}) >= 500'
claim "no sum changes" "r['total_weight'] >= 500"
judge few.pb.gz
report -q -n 0 -s label:data_address -x ';' -i few.pb.gz
check "a row for each address, and their sum is the total" test "$(awk -F ';' \
	'NR > 1 && $7 ~ /^0x/ { rows++; sum += $2 } END { print (rows >= 500 && sum == rows) }' \
	"$tmp/report")" = 1
report -i few.pb.gz
has "the header names labels" '^  labels  *data_address \(--sort label:NAME\)' "$tmp/report"
report -q -i few.pb.gz -s label:data_address,thread -n 1
has "beside other keys" 'touch/[0-9]+ +0x[0-9a-f]+' "$tmp/report"
one=$(report -q -n 0 -s label:data_address -x ';' -i few.pb.gz; awk -F ';' \
	'$7 ~ /^0x/ { print $7; exit }' "$tmp/report")
report -q -x ';' -s label:data_address --label "data_address=$one" -i few.pb.gz
same "one value alone" "1 $one" "$(awk -F ';' '$7 ~ /^0x/ { print $2, $7 }' "$tmp/report")"
report -q -x ';' -s label:data_address --label "data_address=0x*" -i few.pb.gz
same "a pattern of all: nothing is left out" "" "$(grep 'left out' "$tmp/report")"
"$portprof" report -i few.pb.gz -s label:data_adress >"$tmp/report" 2>"$tmp/words"
same "a label that is not there: status" 1 $?
has "a label that is not there: near ones" "no sample.*label 'data_adress'.*did you mean data_address" "$tmp/words"
"$portprof" report -i few.pb.gz --label data_address=7 >"$tmp/report" 2>"$tmp/words"
has "a value that is not there" "'7' is in this profile" "$tmp/words"
"$portprof" report -i few.pb.gz --label data_address >"$tmp/report" 2>"$tmp/words"
has "no value" 'NAME=VALUE' "$tmp/words"
"$portprof" export -f folded -o x.folded few.pb.gz 2>"$tmp/words"
has "an export without labels says so" 'data_address.*-f pprof' "$tmp/words"
"$portprof" export -f pprof -o x.pb.gz few.pb.gz 2>"$tmp/words"
check "one with labels keeps them" labels x.pb.gz \
	'sum(n for f, n in l if "data_address" in f) >= 500'

# A number has its unit; who has none is told from who has.
python3 - "$srcdir/tests/cli" units.pb <<'EOF2'
import sys
sys.path.insert(0, sys.argv[1])
from hostile import message, number, varint
strings = ["", "samples", "count", "size", "bytes"]
body = message(1, number(1, 1) + number(2, 2))
for value, size in ((5, 64), (3, 4096), (2, 64), (1, 0)):
    label = message(3, number(1, 3) + number(3, size) + number(4, 4))
    body += message(2, message(2, varint(value)) + (label if size else b""))
body += b"".join(message(6, s) for s in strings)
open(sys.argv[2], "wb").write(body)
EOF2
report -q -x ';' -s label:size -i units.pb
same "numbers have units; none is none" "7 64 bytes,3 4096 bytes,1 (none)," \
	"$(awk -F ';' 'NR > 1 { printf "%s %s,", $2, $7 }' "$tmp/report")"
record -e page-faults@1 -o none.pb.gz -- "$touch" 500
check "none where none was asked for" labels none.pb.gz \
	'all("data_address" not in f for f, n in l)'

record -e page-faults@1 --labels data-address -o many.pb.gz -- "$touch" 6000
same "too many: status" 0 "$status"
claim "too many: no sum changes" "r['total_weight'] >= 6000"
judge many.pb.gz
check "too many: 4096 are kept" labels many.pb.gz \
	'len({f["data_address"] for f, n in l if "data_address" in f}) == 4096'
check "too many: no sample is missing" labels many.pb.gz 's >= 6000'
report -i many.pb.gz
has "too many: how many are without is said" \
	'[0-9]+ samples are without their labels' "$tmp/report"

echo 'event = page-faults@1
labels = data-address, page-sizes' >conf
record --config conf -o conf.pb.gz -- "$touch" 100
same "by a file: status" 0 "$status"
check "by a file: labels" labels conf.pb.gz \
	'sum(n for f, n in l if "data_address" in f) == s >= 100'
printf 'event = page-faults\nfields = latency\nbranches = calls\n' >conf
record --config conf -o conf.pb.gz -- true
same "keys of callbacks are ignored, and named" 2 \
	"$(grep -c 'is ignored' "$tmp/words")"
printf 'event = page-faults\nbranches = calls\n' >conf
record --config conf --labels branches -o conf.pb.gz -- true
has_not "kinds of the branches that are kept count" 'is ignored' "$tmp/words"
echo 'labels = branches' >>conf
record --config conf -o conf.pb.gz -- true
has_not "also if the file keeps them" 'is ignored' "$tmp/words"
for field in data-address latency data-source transaction; do
	record -q --labels $field -o x.pb.gz -- true
	same "no label $field of a clock: status" 125 "$status"
	has "no label $field of a clock: words" "have no $field" "$tmp/words"
done
record --labels datta-source -o x.pb.gz -- true
same "no such label: status" 125 "$status"
has "no such label: the nearest" 'data-source' "$tmp/words"
record -b timer --labels latency -o x.pb.gz -- true
check "by a backend that has none it is refused" [ "$status" -ne 0 ]
# What a tracepoint tells itself; who may not have it is told so.
record -q -e syscalls:sys_enter_exit_group:field=error_code -o exit.pb.gz -- \
	sh -c 'sh -c "exit 7"; sh -c "exit 300"; exit 0'
if [ "$status" -eq 0 ]; then
	check "fields of a tracepoint are labels" labels exit.pb.gz \
		'sorted(int(f["error_code"]) for f, n in l for _ in range(n)) \
		 == [0, 7, 300]'
	record -q -e syscalls:sys_enter_exit_group:field=nothing -o no.pb.gz -- \
		true
	same "no such field: status" 125 "$status"
	has "no such field: those there are" "no field 'nothing'; fields: .*error_code" \
		"$tmp/words"
else
	echo "# skip: $(tail -n 1 "$tmp/words")"
fi
tap_end
