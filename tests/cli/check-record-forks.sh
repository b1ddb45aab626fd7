#!/bin/sh
# SPDX-License-Identifier: MIT
# portprof record, from inside, of children that never exec: they cost no thread and
# no session, and short ones have what they used on average.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
is_sanitized && { echo "skip: a sanitizer's library has threads of its own"; exit 77; }
forks=$programs/forks

# within FILE FUNCTION NS LEAST: the function has so many nanoseconds: no more, but for
# five standard errors, and no less than LEAST of them. Children run one after the other:
# where that took much longer than their CPU time, others had the CPU at its ticks. A
# thread that they meet seldom (30 ms apart were seen) has a long end without a sample,
# and is told as unattributed, which closes() looks at.
# shellcheck disable=SC2317
within() {
	"$portprof" report -j -i "$1" >"$tmp/within.json" &&
		python3 -c '
import json, sys
r = json.load(open(sys.argv[1]))
has = sum(f["self_weight"] for f in r["functions"] if f["name"] == sys.argv[2])
used, room = float(sys.argv[3]), 5 * r["standard_error"]
assert room > 0
is_alone = r["cpu_time_ns"] > 0.9 * r["duration_ns"]
least = used * float(sys.argv[4]) if is_alone else 1
assert least <= has <= used * 1.05 + room, (has, used, room, is_alone)
' "$tmp/within.json" "$2" "$3" "$4"
}

# judge_run BACKEND CHILDREN US LEAST [thread]
judge_run() {
	record -b "$1" -F 250 -o out.pb.gz -- "$forks" "$2" "$3" ${5:+"$5"}
	same "$1, $2 of $3 us${5:+ in a thread}: status" 0 "$status"
	read -r worked crowded _ <printed
	check "$1: no child of it is said to run on" \
		sh -c '! grep -q "still run" words'
	check "$1: child_work has what children worked" \
		within out.pb.gz child_work "$worked" "$4"
	closes "$1" 3
	judge out.pb.gz
}

can_use_any=no
for backend in timer itimer; do
	can_use $backend || continue
	can_use_any=yes
	children=$(by_speed 250 500 1500)
	# the kernel's own clock of ITIMER_PROF is a tick late in each process
	if [ $backend = timer ]; then
		judge_run $backend "$children" 2000 0.35
		same "timer: children have one thread" 0 "$crowded"
		judge_run $backend 8 60000 0.8
	else
		judge_run $backend 10 100000 0.8
		same "itimer: children have one thread" 0 "$crowded"
	fi
	judge_run $backend 8 60000 0.7 thread
done
[ $can_use_any = yes ] || { echo "skip: neither timer nor itimer here"; exit 77; }
tap_end
