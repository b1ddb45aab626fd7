#!/bin/sh
# SPDX-License-Identifier: MIT
# The account beside other recorders and in a storm of short processes.
# ROUNDS=20 does it twenty times.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3
need_backend perf

round=0
while [ "$round" -lt "${ROUNDS:-1}" ]; do
	round=$((round + 1))

	# What the kernel writes of 1000 processes is among no losses.
	record -b perf -F 99 -o storm.pb.gz -- "$programs/storm" 1000
	same "storm $round: status" 0 "$status"
	claim "storm $round: no sample is lost" "r['lost'] == 0"
	claim "storm $round: and that is certain" "r['lost_is_exact']"
	claim "storm $round: no more samples than periods" \
		"r['samples'] <= r['total_weight'] * 99 / 1e9 + 1001"
	judge storm.pb.gz

	# One within the other on the same event: both have all faults.
	record -b perf -e page-faults:u -o outer.pb.gz -- \
		"$portprof" record -b perf -e page-faults:u -o inner.pb.gz -- \
		"$programs/touch" 20000
	same "nested $round: status" 0 "$status"
	for one in inner outer; do
		claim "$one $round: all faults are in the account" \
			"r['total_weight'] >= 20000"
		claim "$one $round: kept or counted as lost" \
			"r['samples'] + r['lost'] == r['total_weight']"
		claim "$one $round: exactly" "r['lost_is_exact']"
		judge "$one.pb.gz"
	done
done

# A child that nobody waits for is in no wait4(2): what the event counted is the
# CPU time then, and that more was counted is not laid on interrupts.
cat >unwaited.py <<'END'
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
child = os.fork()
while time.process_time() < (0.1 if child else 0.6):
    pass
try:
    os.wait()
except ChildProcessError:
    pass
END
record -b perf -F 500 -o unwaited.pb.gz -- python3 unwaited.py
same "unwaited: status" 0 "$status"
has "unwaited: it is said" "not waited for" "$tmp/words"
claim "unwaited: CPU time is what the event counted" \
	"0.5e9 < r['total_weight'] <= r['cpu_time_ns'] * 1.1"
judge unwaited.pb.gz
record -b perf -F 500 -o waited.pb.gz -- python3 -c '
import os, time
child = os.fork()
while time.process_time() < 0.2:
    pass
child and os.wait()'
has_not "waited for: nothing is said" "not waited for" "$tmp/words"
tap_end
