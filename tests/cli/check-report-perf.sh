#!/bin/sh
# SPDX-License-Identifier: MIT
# The hot functions of real programs are those that perf report finds, and
# their shares are the same, as far as chance allows: of the same run where
# the timers measure, of the same program where perf events do. (Events of two
# tools on one process would not do: the kernel, at least up to 6.18, gives
# the flag PERF_RECORD_MISC_MMAP_BUILD_ID that ours ask for to perf's records
# too, and perf reads them wrongly; perf_event_mmap_output in
# kernel/events/core.c.)
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3
need_command perf
if ! perf record -q -e task-clock:u -F 1000 -o try.data -- "$burn" 30 \
	>/dev/null 2>&1 || ! perf report --stdio -i try.data >/dev/null 2>&1; then
	echo "skip: perf does not work here"
	exit 77
fi

cat >compare.py <<'EOF2'
"""compare.py PERF-ROWS OUR-JSON KIND: do the five largest agree?"""
import json, math, sys
theirs, samples = {}, 0
for line in open(sys.argv[1]):
    fields = [f.strip() for f in line.rstrip("\n").split(";")]
    if len(fields) != 4 or not fields[0].endswith("%"):
        continue
    share, count, module, name = fields
    samples += int(count)
    key = (module, name[4:]) if sys.argv[3] == "function" else module
    theirs[key] = theirs.get(key, 0) + float(share[:-1]) / 100
report = json.load(open(sys.argv[2]))
ours = {}
all_ours = sum(f["self_weight"] for f in report["functions"])
all_theirs = sum(theirs.values())
for f in report["functions"]:
    key = (f["module"], f["name"]) if sys.argv[3] == "function" else f["module"]
    ours[key] = ours.get(key, 0) + f["self_weight"] / all_ours
# Where a program is stripped perf has a row for each address, and we have one
# for each function: only what it could name can be compared.
named = [k for k in theirs if not isinstance(k, tuple) or
         not k[1].startswith("0x")]
bad = 0
for key in sorted(named, key=theirs.get, reverse=True)[:5]:
    p, q = theirs[key] / all_theirs, ours.get(key, 0)
    mean = (p + q) / 2
    chance = math.sqrt(mean * (1 - mean) *
                       (1 / samples + 1 / report["samples"]))
    good = abs(p - q) <= 5 * chance + 0.01
    bad += not good
    print("#", "agrees" if good else "DIFFERS", key,
          "perf %.3f ours %.3f chance %.3f" % (p, q, chance))
print("# samples: perf", samples, "ours", report["samples"])
sys.exit(bad > 0 or samples < 100 or len(theirs) == 0)
EOF2

# list_rows COMM: what perf report says of it in perf.data
list_rows() {
	perf report --stdio -i perf.data --comms "$1" --sort dso,sym \
		-F overhead,sample,dso,sym -t ';' 2>/dev/null | grep -v '^#'
}

# compare WORDS COMM KIND...
compare() {
	compare_words=$1
	list_rows "$2" >rows
	shift 2
	"$portprof" report -i p.pb.gz --json >json 2>/dev/null
	for kind in "$@"; do
		python3 compare.py rows json "$kind" >verdict 2>&1
		check "$compare_words: the five largest of each $kind" [ $? -eq 0 ]
		sed 's/^[^#]/# &/' verdict
	done
}

# against NAME COMM KINDS COMMAND...
against() {
	against_name=$1 against_comm=$2 against_kinds=$3
	shift 3
	if can_use timer; then
		perf record -q -e task-clock:u -F 1000 -o perf.data -- \
			"$portprof" record -q -b timer -F 1000 -o p.pb.gz -- "$@" \
			>/dev/null 2>&1
		# perf samples user mode alone; the timers charge the kernel's
		# part to their caller. All of these hardly call it.
		# shellcheck disable=SC2086
		compare "$against_name, timers in the same run" "$against_comm" \
			$against_kinds
	fi
	if can_use perf; then
		perf record -q -e task-clock:u -F 1000 -o perf.data -- "$@" \
			>/dev/null 2>&1
		"$portprof" record -q -b perf -e task-clock:u -F 1000 -o p.pb.gz \
			-- "$@" >/dev/null 2>&1
		# shellcheck disable=SC2086
		compare "$against_name, perf events in another run" \
			"$against_comm" $against_kinds
	fi
}

awk 'BEGIN { for (i = 0; i < 700000; i++) print (i * 7919) % 1000003, i }' >text
if command -v xz >/dev/null; then
	against xz xz "module" xz -T2 -1 -k -f --block-size=2MiB text
fi
cat >work.py <<'EOF2'
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps
print(max(collatz(i) for i in range(1, 16000)))
print(len({str(i): [i] * 3 for i in range(100000)}))
EOF2
python=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')
comm=$(basename "$python" | cut -c1-15)
against python3 "$comm" "module function" "$python" work.py

# Code of our own, so that the shares are known as well: in a register, since how
# long memory takes differs from function to function and from run to run; and its
# rounds differ in length, or on some machine one would be a quarter of a period.
cat >known.c <<'EOF2'
static volatile unsigned long sum;
#define SPIN(name) __attribute__((noinline)) void name(unsigned n) \
	{ unsigned long x = sum; \
	  for (unsigned i = 0; i < n; i++) x = x * 6364136223846793005UL + i; \
	  sum = x; }
SPIN(most) SPIN(some) SPIN(few)
int main(void)
{
	unsigned random = 1;
	for (int i = 0; i < 4000; i++) {
		unsigned n = 2000 + (random >> 16) % 16000;
		random = random * 1103515245 + 12345;
		most(6 * n);
		some(3 * n);
		few(n);
	}
	return 0;
}
EOF2
if ${CC:-cc} -O1 -o known known.c 2>/dev/null; then
	against "a known split" known "module function" ./known
	"$portprof" report -i p.pb.gz --json >json
	check "and the split is 6 : 3 : 1" python3 -c '
import json
r = json.load(open("json"))
part = {f["name"]: f["share"] for f in r["functions"]}
n = r["samples"]
bad = [(name, p) for name, p in (("most", .6), ("some", .3), ("few", .1))
       if abs(part[name] - p) > 5 * (p * (1 - p) / n) ** .5 + 0.02]
print("#", n, part)
assert n > 100 and not bad, bad'
fi
tap_end
