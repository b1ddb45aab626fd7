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
