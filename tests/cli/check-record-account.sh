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

# A thread that executes a program has the number of the first from then on, and
# continues with its own counts.
cat >thread_exec.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void touch(int pages)
{
	long bytes = sysconf(_SC_PAGESIZE);
	char *at = mmap(NULL, (size_t)(pages * bytes), PROT_READ | PROT_WRITE,
	                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(at, (size_t)(pages * bytes), MADV_NOHUGEPAGE);
	for (int i = 0; i < pages; i++)
		at[i * bytes] = 1;
}

static void *execute(void *program)
{
	touch(3000);
	execl(program, program, "2000", (char *)0);
	_exit(1);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	touch(argc > 1 ? atoi(argv[1]) : 1000);
	if (argc > 1)
		return 0;
	pthread_create(&thread, NULL, execute, argv[0]);
	for (;;)
		pause();
}
END
if ${CC:-cc} -O1 -pthread -o thread_exec thread_exec.c 2>cc.words; then
	for more in "" -e\ task-clock; do
		# shellcheck disable=SC2086
		record -b perf -e page-faults@1 $more -o thread_exec.pb.gz -- ./thread_exec
		claim "a thread's exec${more:+ beside a clock}: each fault once" \
			"6000 <= r['total_weight'] == r['samples'] + r['lost'] < 6900"
		judge thread_exec.pb.gz
	done
else
	skip "a thread's exec" "nothing can be compiled"
fi
tap_end
