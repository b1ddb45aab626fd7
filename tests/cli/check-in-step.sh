#!/bin/sh
# SPDX-License-Identifier: MIT
# A program whose period is that of the samples has its true shares all the
# same, by backends that set their timers themselves.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
is_sanitized && { echo "skip: no object is preloaded then"; exit 77; }
need_command python3

# 400 samples of random phase: the standard error of a share is 2.5 %.
for backend in timer itimer; do
	if ! can_use $backend; then
		skip "$backend" "$(tail -n 1 "$tmp/words" | tr '#' ' ')"
		continue
	fi
	for period in 10000 20000; do
		record -b $backend -F 100 -o $backend.gz -- \
			"$programs/in_step" $period $((4000000 / period))
		same "$backend, $period us: status" 0 "$status"
		claim "$backend, $period us: six parts in one function, four in the other" \
			"0.45 < f('step_much') / (f('step_much') + f('step_little')) < 0.75"
		claim "$backend, $period us: weights are exact" \
			"abs(r['total_weight'] - r['cpu_time_ns']) < 100 * ms"
		judge $backend.gz
	done
done
tap_end
