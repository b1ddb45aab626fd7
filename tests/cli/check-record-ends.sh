#!/bin/sh
# SPDX-License-Identifier: MIT
# However a command ends, its profile is there and its exit status is told:
# by every backend that works here.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3

# ends BACKEND HOW STATUS MILLISECONDS: record burn; the profile must hold its
# functions and that much CPU time at least. A busy machine's ticks, which timers
# need, may be 60 ms of a thread's CPU time apart: 200 ms have some.
ends() {
	record -b "$1" -F 1000 -o p.pb.gz -- "$burn" 200 2 "$2"
	same "$1, $2: status" "$3" "$status"
	claim "$1, $2: its time is there" \
		"f('burn_much') > 0 and r['total_weight'] >= $4 * ms"
	closes "$1, $2" 5
	judge p.pb.gz
}

# Killed without a chance to say a word: all but the last second is there.
dies() {
	record -b "$1" -F 1000 -o p.pb.gz -- "$burn" 1600 1 "$2"
	same "$1, $2: status" "$3" "$status"
	claim "$1, $2: all but the last second is there" \
		"weights >= 500 * ms and f('burn_much') > 0"
	closes "$1, $2" 5
	judge p.pb.gz
}

# shellcheck disable=SC2086 # a word each
for backend in $(some_of perf timer itimer); do
	if ! can_use $backend; then
		skip "$backend" "$(tail -n 1 "$tmp/words" | tr '#' ' ')"
		continue
	fi
	ends $backend return 0 390
	ends $backend _exit 5 390
	ends $backend quick_exit 6 390
	dies $backend abort 134
	dies $backend kill 137
	ends $backend exec 0 480
	ends $backend noexec 0 580
	ends $backend fork 0 580
	ends $backend vfork 0 580
	ends $backend greedy 0 390
	ends $backend disable 0 390
	ends $backend deaf 0 390
	# deaf, nothing; and the process's timer asks one thread, whichever runs
	share=2
	[ $backend = itimer ] && share=5
	claim "$backend, deaf: its threads are heard all the same" \
		"weights > r['total_weight'] / $share"
	judge p.pb.gz

	# A shell with children, some of them short.
	record -b $backend -F 1000 -o p.pb.gz -- sh -c \
		"'$burn' 200 & '$burn' 200; wait; for i in 1 2 3; do true | true; done; exit 9"
	same "$backend, shell: status" 9 "$status"
	claim "$backend, shell: both children's time is there" \
		"f('burn_much') + f('burn_little') > 160 * ms and r['total_weight'] >= 390 * ms"
	closes "$backend, shell" 5
	judge p.pb.gz

	record -b $backend --no-inherit -o p.pb.gz -- sh -c "'$burn' 50; :"
	same "$backend, without children: status" 0 "$status"
	claim "$backend, without children: theirs is not there" \
		"f('burn_much') == 0"
	judge p.pb.gz

	# The C library's clocks report another time; ours are the kernel's.
	if command -v faketime >/dev/null && ! is_sanitized; then
		record -b $backend -F 1000 -o p.pb.gz -- \
			faketime -f '-5000d' "$burn" 500
		same "$backend, false time: status" 0 "$status"
		claim "$backend, false time: it is sampled all the same" \
			"weights > r['total_weight'] / 2 and f('burn_much') > 0"
		judge p.pb.gz
	else
		skip "$backend, false time" "no faketime"
	fi

	# Nothing of ours is in a program whose LD_PRELOAD was replaced.
	if [ "$backend" != perf ] && ! is_sanitized; then
		record -b $backend -F 100 -o p.pb.gz -- env LD_PRELOAD= "$burn" 500
		if grep -q 'no sample' "$tmp/words"; then
			has "$backend, another LD_PRELOAD: the reason" \
				"$backend samples from inside.*LD_PRELOAD" \
				"$tmp/words"
		else # the few ms of env had one
			skip "$backend, another LD_PRELOAD" "a sample of env"
		fi
		# ... and that it rarely had a CPU is not why
		record -b $backend -F 100 -o p.pb.gz -- \
			env LD_PRELOAD= sh -c "'$burn' 200; sleep 3"
		if grep -q 'no sample' "$tmp/words"; then
			has "$backend, another LD_PRELOAD, asleep: the reason" \
				"$backend samples from inside.*LD_PRELOAD" \
				"$tmp/words"
		else
			skip "$backend, another LD_PRELOAD, asleep" "a sample of env"
		fi
	fi

	# A sleeper, and one that does nothing: nothing is claimed. At a usual
	# rate the first period, which is random, may end in its few ms.
	record -b $backend -F 1 -o p.pb.gz -- sleep 0.3
	same "$backend, sleep: status" 0 "$status"
	has "$backend, sleep: why there is nothing" \
		'no sample: the command used [0-9.]+ ms of CPU time, .* sampled every .*expected' \
		"$tmp/words"
	claim "$backend, sleep: nothing is claimed" \
		"weights < 100 * ms and r['samples'] <= 5"
	judge p.pb.gz
	record -q -b $backend -o p.pb.gz -- true
	same "$backend: -q says nothing" "" "$(cat "$tmp/words")"

	# Signals. ThreadSanitizer holds them back while we wait for the command.
	case ${PP_SANITIZERS:-no} in
	*thread*)
		skip "$backend, SIGTERM" "ThreadSanitizer delays signals"
		continue
		;;
	esac
	"$portprof" record -q -b $backend -o p.pb.gz -- "$burn" 200 1 trap \
		>ready 2>"$tmp/words" &
	recorder=$!
	wait_for [ -s ready ]
	kill -TERM $recorder
	wait $recorder
	same "$backend, SIGTERM reaches the command" 7 $?
	claim "$backend, SIGTERM: its profile is whole" \
		"r['complete'] and f('burn_much') > 0"
	judge p.pb.gz
	rm -f ready

	# The command gets its own input, output and arguments.
	# shellcheck disable=SC2016
	echo "in put" | "$portprof" record -q -b $backend -o p.pb.gz \
		sh -c 'cat; echo "$0 $1"' -F -- >"$tmp/printed" 2>"$tmp/words"
	same "$backend: input, output and arguments" "in put
-F --" "$(cat "$tmp/printed")"
	same "$backend: nothing was left" "p.pb.gz p.pb.gz.old" \
		"$(echo p.pb.gz*)"
done

# What was there is kept, once.
echo first >keep.pb.gz
record -q -o keep.pb.gz -- "$burn" 5
same "an existing file is kept as .old" first "$(cat keep.pb.gz.old)"

# Of several runs those before a signal are kept.
cat >third.sh <<'EOF2'
echo run >>runs
[ "$(wc -l <runs)" -lt "$1" ] || kill -INT $$
exec "$2" 60
EOF2
rm -f runs several.pb.gz
record --repeat 4 -o several.pb.gz -- sh third.sh 3 "$burn"
same "the third of four runs is ended: status" 130 "$status"
has "it is said" '2 of 4 runs' "$tmp/words"
report -i several.pb.gz
has "and the others are there" 'burn_much' "$tmp/report"
rm -f runs several.pb.gz
record --repeat 4 -o several.pb.gz -- sh third.sh 1 "$burn"
same "the first is: status" 130 "$status"
has "and that nothing is written" 'several.pb.gz is not written' "$tmp/words"
check "nothing is" [ ! -e several.pb.gz ]
tap_end
