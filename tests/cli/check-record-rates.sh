#!/bin/sh
# SPDX-License-Identifier: MIT
# No rate can stop a machine: low rates first, the next only if the last ended.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3
record -q -b perf -e task-clock -o try.pb.gz -- true
if [ "$status" -ne 0 ]; then
	echo "skip: $(tail -n 1 "$tmp/words")"
	exit 77
fi

# Three quarters of a CPU are left, so that work takes a third longer, and as
# long again for what else runs here: this is a limit for hangs.
for how in "-F 2000" "-F 8000" "-F 20000" "-F 200000" "-c 10000" \
	"-e task-clock:u:period=10000" "-e cpu-clock:freq=1000000"; do
	# shellcheck disable=SC2086
	timeout 600 "$portprof" record -b perf $how -o rate.pb.gz -- \
		"$burn" 200 >"$tmp/printed" 2>"$tmp/words"
	status=$?
	same "$how: ends" 0 "$status"
	[ "$status" -eq 0 ] || break
	asked="(r['rate']['requested'] or 1e9 / r['rate']['requested_period'])"
	claim "$how: no more than was asked" \
		"r['rate']['granted'] <= $asked * 1.001"
	fewer="r['rate']['granted'] < $asked * 0.98"
	claim "$how: fewer are explained" \
		"not $fewer or any('a second' in note for note in r['notes'])"
	judge rate.pb.gz
done

# What cannot be granted anywhere: 10 us are the shortest period there is.
record -b perf -F 1000000 -o rate.pb.gz -- "$burn" 20
check "a rate that is not granted is reported at the end" \
	grep -q 'Hz granted, 1000000 asked' "$tmp/words"
report -i rate.pb.gz
check "and the report says why" grep -q '^  note .*a second' "$tmp/report"
tap_end
