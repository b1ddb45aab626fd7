#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs that switch threads all the time: recording stops no event at a switch,
# and their time is in samples. Where it cannot be helped the recorder says so.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_backend perf
switches=$programs/switches

# added NAME WAY OPTION...: records it; $percent has what measuring added to its CPU
# time, $switch_us what it added to each switch
added() {
	name=$1 way=$2
	shift 2
	record -v -b perf "$@" -o "$name.pb.gz" -- "$switches" "$way" 1
	same "$name: status" 0 "$status"
	percent=$(sed -n 's/.*measuring added about \([0-9]*\).*/\1/p' words)
	switch_us=$(sed -n 's/.* switches of \([0-9.]*\) us.*/\1/p' words)
}

for way in pipe socket futex mutex; do
	added "$way" "$way" -F 997
	same "$way: a switch costs nothing" 0.0 "$switch_us"
	# a killed child's last samples are read when its clock is gone
	claim "$way: its time is in samples" \
		'abs(r["unattributed"]) <= 0.1 * r["total_weight"] + 6 * r["standard_error"]'
	judge "$way.pb.gz"
done

# Samples of page faults may bear each other's ids, so they are read.
added reads pipe -F 997 -e task-clock -e page-faults:u
check "events that are read cost a switch" [ "$switch_us" != 0.0 ]
if [ "$percent" -ge 3 ]; then
	has "what cannot be helped is reported" 'switches threads often' words
	has "with what to do" '-b timer' words
fi

tap_end
