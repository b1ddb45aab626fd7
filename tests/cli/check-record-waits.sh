#!/bin/sh
# SPDX-License-Identifier: MIT
# record --wall and --off-cpu: a program that waits in known ways, as
# administrator, as an ordinary user and where perf is forbidden; threads and
# processes that end at once; and that nothing disturbs the program.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
[ -r /proc/self/schedstat ] || {
	echo "skip: the kernel does not say how long threads waited"
	exit 77
}
# chains of waits and holders of locks stand in memory of the program
cat >can_read.c <<'END'
#define _GNU_SOURCE
#include <sys/uio.h>
#include <unistd.h>
int main(void)
{
	char from = 1, to;
	struct iovec local = { &to, 1 }, remote = { &from, 1 };

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) != 1;
}
END
if ${CC:-cc} -o can_read can_read.c 2>cc.words && ! ./can_read; then
	echo "skip: a filter of system calls forbids process_vm_readv(2)"
	exit 77
fi
rounds=$(by_speed 6 10 40)

# life FILE: THREADS LIFETIME RUNNING READY BLOCKED UNKNOWN, as the file has them
life() {
	"$portprof" merge -o "$tmp/merged.pb.gz" "$1" >/dev/null 2>&1
	gzip -dc "$tmp/merged.pb.gz" | tr '\000-\037' '\n' | sed -n \
		's/.*portprof\.life=\([0-9]*\) nanoseconds of \([0-9]*\) threads: \([0-9]*\) running, \([0-9]*\) ready, \([0-9]*\) blocked, \([0-9]*\) unknown.*/\2 \1 \3 \4 \5 \6/p'
}

# shellcheck disable=SC2016 # awk's own
# closes WORDS FILE THREADS: so many at least, and their time adds up
closes() {
	life "$2" >"$tmp/life"
	check "$1: at least $3 threads" awk -v least="$3" \
		'{ seen = $1 >= least } END { exit !seen }' "$tmp/life"
	check "$1: running, ready, blocked and unknown are the lifetime" \
		awk '{ seen = $2 == $3 + $4 + $5 + $6 && $2 > 0 }
		END { exit !seen }' "$tmp/life"
	check "$1: something is known" \
		awk '{ seen = $3 + $5 > 0 } END { exit !seen }' "$tmp/life"
	[ $tap_bad -eq 0 ] || sed 's/^/# /' "$tmp/life"
}

# part KIND: seconds that the program's own thread was blocked so
part() {
	"$portprof" report -q -x , -e blocked-time -s thread,label:wait \
		"$file" 2>/dev/null | awk -F, -v kind="$1" '
		NR > 1 && $7 == "waits" && $10 == kind { sum += $2 }
		END { printf "%.6f\n", sum / 1e9 }'
}

# ready: seconds for which that thread had no CPU
ready() {
	"$portprof" report -q -x , -e ready-time -s thread "$file" \
		2>/dev/null | awk -F, 'NR > 1 && $7 == "waits" { sum += $2 }
		END { printf "%.6f\n", sum / 1e9 }'
}

# estimated: seconds of that thread that are told to be an estimate, as those are
# where nobody could look while a whole wait passed
estimated() {
	"$portprof" report -q -x , -e blocked-time -s thread,label:estimate \
		"$file" 2>/dev/null | awk -F, '
		NR > 1 && $7 == "waits" && $10 == 1 { sum += $2 }
		END { printf "%.6f\n", sum / 1e9 }'
}

# What the program measured includes the time until it had a CPU again.
near() {
	if awk -v got="$2" -v own="$3" -v ready="$4" -v all="$5" -v not="$6" '
		BEGIN {
			slack = all * 0.03 + not
			exit !(own > 0 && got > 0 && got <= own + slack &&
			       got + ready >= own - slack)
		}'; then
		ok "$1"
	else
		not_ok "$1"
		echo "# reported $2 s, the program waited $3 s, ready $4 s," \
			"estimated $6 s of $5 s"
	fi
}

# known WORDS FILE: the program's waits are in the report of $file
known() {
	all=$(sed -n 's/^all //p' "$tmp/own")
	late=$(ready)
	guess=$(estimated)
	for kind in sleep lock pipe; do
		near "$1: $kind" "$(part $kind)" \
			"$(sed -n "s/^$kind //p" "$tmp/own")" "$late" "$all" "$guess"
	done
	"$portprof" report -q -e blocked-time -s label:holder "$file" \
		>"$tmp/holders" 2>&1
	has "$1: who had the lock" 'thread writer \([0-9]+\)' "$tmp/holders"
}

file=$tmp/wall.pb.gz
"$portprof" record -q --wall -g -o "$file" -- "$programs/waits" known \
	"$rounds" >"$tmp/own" 2>"$tmp/words"
same "--wall: status" 0 $?
known "--wall"
closes "--wall" "$file" 3
"$portprof" report -q -e blocked-time --tree "$file" >"$tmp/tree" 2>&1
has "--wall: the chain of the wait for the lock" 'wait_lock' "$tmp/tree"
has "--wall: the chain of the wait for the pipe" 'wait_pipe' "$tmp/tree"
"$portprof" report -q -e task-clock "$file" >"$tmp/cpu" 2>&1
has "--wall: CPU time is there, too" 'compute' "$tmp/cpu"

# frame pointers that leaves leave in their register, from where nobody gets them
"$portprof" record -q --off-cpu -g -o "$tmp/pointers.pb.gz" -- \
	"$programs/waits_pointers" known 2 >"$tmp/own" 2>"$tmp/words"
"$portprof" report -e blocked-time --tree "$tmp/pointers.pb.gz" \
	>"$tmp/tree" 2>&1
for name in main wait_sleep wait_lock wait_pipe; do
	has "frame pointers: $name" " $name\$" "$tmp/tree"
done
case $(uname -m) in
x86_64)
	has "frame pointers: whole chains" \
		'complete for (100|99|9[5-9])\.[0-9] %' "$tmp/tree"
	;;
esac

file=$tmp/off.pb.gz
"$portprof" record --off-cpu -o "$file" -- "$programs/waits" known \
	"$rounds" >"$tmp/own" 2>"$tmp/words"
same "--off-cpu: status" 0 $?
known "--off-cpu"
closes "--off-cpu" "$file" 3
"$portprof" report -q -e task-clock "$file" >"$tmp/cpu" 2>&1
check "--off-cpu: no CPU time" [ $? -ne 0 ]

file=$tmp/timer.pb.gz
"$programs/deny" EPERM "$portprof" record -q --off-cpu -g -o "$file" -- \
	"$programs/waits" known "$rounds" >"$tmp/own" 2>"$tmp/words"
status=$?
if [ $status -eq 77 ]; then
	skip "where perf is forbidden" "no such filter here"
else
	same "where perf is forbidden: status" 0 $status
	known "where perf is forbidden"
	closes "where perf is forbidden" "$file" 3
fi

# as above, but by an object in the program
if ! is_sanitized && [ -f "$builddir/.libs/libportprof-preload.so" ]; then
	file=$tmp/inside.pb.gz
	"$portprof" record -q -b timer --wall -g -o "$file" -- \
		"$programs/waits" known "$rounds" >"$tmp/own" 2>"$tmp/words"
	same "sampled inside: status" 0 $?
	known "sampled inside"
	closes "sampled inside" "$file" 3
	"$portprof" report -q -e blocked-time -s thread "$file" \
		>"$tmp/threads" 2>&1
	has_not "sampled inside: not the sampler" 'portprof/' "$tmp/threads"
fi

if become_ordinary; then
	mkdir -m 777 "$tmp/theirs"
	file=$tmp/theirs/waits.pb.gz
	ordinary "$portprof" record -q --wall -g -o "$file" -- \
		"$programs/waits" known "$rounds" >"$tmp/own" 2>"$tmp/words"
	same "an ordinary user: status" 0 $?
	known "an ordinary user"
	closes "an ordinary user" "$file" 3
else
	skip "an ordinary user" "there is none"
fi

# a command that has begun long before
"$portprof" record -q --off-cpu -D 1000 -o "$tmp/late.pb.gz" -- sleep 3
"$portprof" report -q -x , -e blocked-time -s label:wait "$tmp/late.pb.gz" \
	>"$tmp/late" 2>&1
# shellcheck disable=SC2016 # awk's own
check "--delay: what is left of its sleep" awk -F, '
	/sleep/ { slept += $2 } END { exit !(slept > 0.5e9 && slept < 2.9e9) }' \
	"$tmp/late"

# threads and processes that end before anybody looks
"$portprof" record -q --off-cpu -o "$tmp/threads.pb.gz" -- \
	"$programs/waits" threads 500
least=500
! perf_is_filtered || least=1
closes "500 threads" "$tmp/threads.pb.gz" $least
"$portprof" record -q --off-cpu -o "$tmp/processes.pb.gz" -- \
	"$programs/waits" processes 200
least=200
! perf_is_filtered || least=1
closes "200 processes" "$tmp/processes.pb.gz" $least

# nobody is disturbed
"$portprof" record -q --wall -g -o "$tmp/kinds.pb.gz" -- "$programs/waits" \
	calls 3 >"$tmp/own" 2>&1
has "no call is broken off" '^eintr 0$' "$tmp/own"

# each thread is named for what it waits for
"$portprof" record -q --off-cpu -o "$tmp/all.pb.gz" -- "$programs/waits" \
	kinds 1000 >"$tmp/own" 2>&1
"$portprof" report -q -x , -n 0 --idle -e blocked-time -s thread,label:wait \
	"$tmp/all.pb.gz" >"$tmp/kinds" 2>&1
for kind in sleep lock condition network pipe child poll idle; do
	# shellcheck disable=SC2016 # awk's own
	check "kinds: $kind" awk -F, -v kind="$kind" '
		$7 == kind && $10 == kind { right += $2 }
		$7 == kind && $10 != kind { wrong += $2 }
		END { exit !(right > 10 * wrong) }' "$tmp/kinds"
done

# until the signal that ended it, its first thread slept
# shellcheck disable=SC2016 # awk's own
check "kinds: the first thread, too" awk -F, '
	$7 == "waits" && $10 == "sleep" { slept += $2 }
	END { exit !(slept > 0.9e9) }' "$tmp/kinds"

# a process that runs already, and for what it waits
sleep 30 &
sleeper=$!
"$portprof" record -q --off-cpu --duration 0.3 -p $sleeper \
	-o "$tmp/sleeper.pb.gz"
same "-p: status" 0 $?
kill $sleeper
"$portprof" report -q -e blocked-time -s label:wait "$tmp/sleeper.pb.gz" \
	>"$tmp/kinds" 2>&1
has "-p: it sleeps" 'sleep' "$tmp/kinds"
closes "-p" "$tmp/sleeper.pb.gz" 1

"$portprof" stat -e blocked-time true >"$tmp/printed" 2>"$tmp/words"
check "stat: refused" [ $? -ne 0 ]
why='portprof record'
! perf_is_filtered || why="portprof record|$filtered"
has "stat: and why" "$why" "$tmp/words"
tap_end
