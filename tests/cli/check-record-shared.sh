#!/bin/sh
# SPDX-License-Identifier: MIT
# Commands that are measured from inside: whatever ends them, each sample is in
# the file, which is the recorder's; nothing of theirs is written to or closed.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3

# segments PID: the shared memory that this process made and that is still there
segments() {
	awk -v pid="$1" 'NR > 1 && $5 == pid' /proc/sysvipc/shm 2>/dev/null |
		wc -l | tr -d ' '
}

# shellcheck disable=SC2317 # for wait_for
is_empty() {
	[ "$(segments "$1")" = 0 ]
}


for backend in timer itimer; do
	if ! can_use $backend; then
		skip "$backend" "$(tail -n 1 "$tmp/words" | tr '#' ' ')"
		continue
	fi

	### Killed at the end of its work: not even a portion was due by then.
	### What came after the last tick is no sample: a kernel that is short
	### of CPUs ticks some 100 ms apart, so three tenths may be missing.

	rm -rf p.pb.gz*
	record -b $backend -F 1000 -o p.pb.gz -- "$burn" 500 1 kill
	same "$backend, SIGKILL: status" 137 "$status"
	claim "$backend, SIGKILL: every sample is there" \
		"f('burn_much') + f('burn_little') > 350 * ms"
	closes "$backend, SIGKILL" 5
	judge p.pb.gz
	same "$backend, SIGKILL: nothing else is left" p.pb.gz "$(echo p.pb.gz*)"

	rm -rf p.pb.gz*
	record -b $backend -F 1000 -o p.pb.gz -- "$burn" 400 4 kill
	claim "$backend, SIGKILL of four threads: every sample is there" \
		"f('burn_much') + f('burn_little') > 4 * 280 * ms"
	judge p.pb.gz

	rm -rf p.pb.gz*
	record -b $backend -F 1000 -o p.pb.gz -- sh -c \
		"'$burn' 400 1 kill; '$burn' 400 1 abort; exec '$burn' 400 1 kill"
	same "$backend, several processes: status" 137 "$status"
	claim "$backend, several processes: every sample is there" \
		"f('burn_much') + f('burn_little') > 3 * 280 * ms"
	judge p.pb.gz

	### It begins with all signals blocked

	cat >block-all.py <<'EOF2'
import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, signal.NSIG))
os.execvp(sys.argv[1], sys.argv[1:])
EOF2
	rm -rf p.pb.gz*
	record -b $backend -F 1000 -o p.pb.gz -- python3 block-all.py "$burn" 500
	same "$backend, executed with all blocked: status" 0 "$status"
	claim "$backend, executed with all blocked: every sample is there" \
		"f('burn_much') + f('burn_little') > 350 * ms"
	judge p.pb.gz

	cat >block-and-fork.py <<'EOF2'
import os, signal, time
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, signal.NSIG))
child = os.fork()
if child:
    os.waitpid(child, 0)
while not child and time.process_time() < 0.5:
    pass
EOF2
	rm -rf p.pb.gz*
	record -b $backend -F 1000 -o p.pb.gz -- python3 block-and-fork.py
	claim "$backend, forked with all blocked: every sample is there" \
		"weights > 350 * ms"
	judge p.pb.gz

	### It closes all it does not know

	rm -rf p.pb.gz* own
	mkdir own
	record -b $backend -F 500 -o p.pb.gz -- "$programs/close_all" own 1600
	same "$backend, a command that closes all: its files are intact" 0 \
		"$status"
	claim "$backend, a command that closes all: it was measured on" \
		"f('use_cpu') > 1400 * ms"
	judge p.pb.gz

	### It may write no file

	rm -rf p.pb.gz*
	record -b $backend -F 1000 -o p.pb.gz -- sh -c \
		"ulimit -f 0; exec '$burn' 500 1 kill"
	same "$backend, no files allowed: status" 137 "$status"
	claim "$backend, no files allowed: every sample is there" \
		"f('burn_much') + f('burn_little') > 350 * ms"
	judge p.pb.gz

	### A process that cannot use the recorder's memory runs all the same

	chmod 711 "$tmp"
	cat >become.py <<'EOF2'
import os, sys
if os.getuid() == 65534:
    sys.exit("nobody cannot become another user")
os.setuid(65534)
os.execvp(sys.argv[1], sys.argv[1:])
EOF2
	for way in "python3 become.py" "unshare -i"; do
		$way true 2>/dev/null || continue
		$way cat "$builddir/.libs/libportprof-preload.so" >object 2>words || {
			skip "$backend, ${way%% *}" "it may not read the preloaded object"
			continue
		}
		# shellcheck disable=SC2086 # a command and its arguments
		record -b $backend -F 1000 -o p.pb.gz -- $way sh -c 'exit 6'
		same "$backend, ${way%% *}: status" 6 "$status"
		has "$backend, ${way%% *}: why it is not measured" \
			'not profiled: .*(user|namespace)' "$tmp/words"
	done

	### Its memory goes with it

	if [ -r /proc/sysvipc/shm ]; then
		rm -rf p.pb.gz* ready
		"$portprof" record -q -b $backend -F 1000 -o p.pb.gz -- \
			"$burn" 20 1 trap >ready 2>"$tmp/words" &
		recorder=$!
		wait_for test -s ready
		check "$backend: there is shared memory" [ "$(segments $recorder)" -gt 0 ]
		kill -KILL $recorder
		wait $recorder 2>/dev/null
		kill -KILL "$(sed -n 's/^ready //p' ready)"
		check "$backend, both killed: their memory is free" \
			wait_for is_empty $recorder
		report -i p.pb.gz
		same "$backend, both killed: the file can be read" 0 "$status"
	fi
done
tap_end
