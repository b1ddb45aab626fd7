#!/bin/sh
# SPDX-License-Identifier: MIT
# record --wall and --off-cpu: a program that waits in known ways, as
# administrator, as an ordinary user and where perf is forbidden; threads and
# processes that end at once; and that nothing disturbs the program.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_waits
rounds=$(by_speed 6 10 40)
many_rounds=$(by_speed 2 5 20)

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

# told: "THREAD STATE SECONDS" of $file, where STATE may be a kind; "estimate" for
# what is told to be one, as that is where nobody could look while a whole wait passed
told() {
	for event in task-clock ready-time blocked-time; do
		"$portprof" report -q -x , -n 0 -e $event \
			-s thread,wait,label:estimate "$file" 2>/dev/null
	done | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		$at["self"] !~ /^[0-9]+$/ { next }
		{ print $at["thread"], $at["wait"], $at["self"] / 1e9 }
		$at["label"] == 1 && $at["wait"] != "ready" {
			print $at["thread"], "estimate", $at["self"] / 1e9
		}'
}

# shellcheck disable=SC2016 # awk's own
# known WORDS [STATE...]: each worker's share of each state, as the kernel has
# charged it, is in $file, within one in a hundred of its life; and who had the lock
known() {
	words=$1
	shift
	told >"$tmp/told"
	for state in sleep lock pipe ready "$@"; do
		check "$words: $state" awk -v state="$state" -v first="$tmp/own" '
			FILENAME == first { own[$1, $2] = $3 }
			FILENAME == first && $2 == "all" { all[$1] = $3 }
			FILENAME == first { next }
			{ got[$1, $2] += $3 }
			$2 != "estimate" && $2 != "running" { waits[$1] += $3 }
			END {
				for (name in all) {
					count++
					# from the last look to its end nobody knows
					left = all[name] - own[name, "running"] \
						- waits[name]
					if (left < 0)
						left = 0
					more = got[name, state] - own[name, state]
					guess = 0.01 * all[name] + got[name, "estimate"]
					if (own[name, state] <= 0 || more > guess ||
					    -more > guess + left)
						bad = bad name ": " state " " \
							got[name, state] " s of " \
							own[name, state] " s, " \
							got[name, "estimate"] \
							" s estimated, " left \
							" s unknown of " \
							all[name] " s\n# "
				}
				if (bad || !count)
					print "# " bad count " workers"
				exit bad || !count
			}' "$tmp/own" "$tmp/told"
	done
	"$portprof" report -q -x '|' -n 0 -e blocked-time -s thread,wait,holder \
		"$file" >"$tmp/holders" 2>"$tmp/said"
	same "$words: a table of holders" 0 $?
	sed 's/^/# /' "$tmp/said"
	check "$words: who had the lock" awk -F'|' '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["thread"] ~ /^worker/ && $at["wait"] == "lock" {
			number = $at["thread"]
			sub("worker", "", number)
			if ($at["holder"] ~ "thread writer" number " ")
				right += $at["self"]
			else if ($at["holder"] ~ /thread/)
				wrong += $at["self"]
			else
				nobody += $at["self"]
		}
		END {
			print "# ns of the right one, a wrong one, nobody:", right,
				wrong, nobody
			exit !(right > 10 * nobody && !wrong)
		}' "$tmp/holders"
	sed 's/^/# /' "$tmp/holders"
}

file=$tmp/wall.pb.gz
"$portprof" record -q --wall -g -o "$file" -- "$programs/waits" known \
	"$rounds" >"$tmp/own" 2>"$tmp/words"
same "--wall: status" 0 $?
known "--wall" running
closes "--wall" "$file" 3
"$portprof" report -q -e blocked-time --tree "$file" >"$tmp/tree" 2>&1
"$portprof" report -q --holders "$file" >"$tmp/holders" 2>&1
has "--wall: where the lock was held" \
	' flush_log in thread writer1 \([0-9]+\)$' "$tmp/holders"
has "--wall: and who called that" ' at .*flush_log < write_log' "$tmp/holders"
has "--wall: the chain of the wait for the lock" 'wait_lock' "$tmp/tree"
has "--wall: the chain of the wait for the pipe" 'wait_pipe' "$tmp/tree"
"$portprof" report -q -e task-clock "$file" >"$tmp/cpu" 2>&1
has "--wall: CPU time is there, too" 'compute' "$tmp/cpu"

# frame pointers that leaves leave in their register, from where nobody gets them
"$portprof" record -q --off-cpu -g -o "$tmp/pointers.pb.gz" -- \
	"$programs/waits_pointers" known "$rounds" >"$tmp/printed" 2>"$tmp/words"
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
	known "sampled inside" running
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
	known "an ordinary user" running
	closes "an ordinary user" "$file" 3
else
	skip "an ordinary user" "there is none"
fi

# eight workers, and four others that keep two CPUs busy: they are ready for long
others=
for _ in 1 2 3 4; do
	"$burn" 600000 >"$tmp/printed" 2>&1 &
	others="$others $!"
done
at_end="kill $others 2>/dev/null"
file=$tmp/many.pb.gz
"$portprof" record -q --wall -g -o "$file" -- "$programs/waits" known \
	"$many_rounds" 8 >"$tmp/own" 2>"$tmp/words"
same "eight workers: status" 0 $?
known "eight workers" running
closes "eight workers" "$file" 17
everybody=$(by_speed false true true)
if $everybody && "$programs/deny" EPERM "$portprof" record -q --off-cpu -g \
	-o "$file" -- "$programs/waits" known "$many_rounds" 8 >"$tmp/own" \
	2>"$tmp/words"; then
	known "eight workers where perf is forbidden"
else
	skip "eight workers where perf is forbidden" "not now, or no such filter"
fi
if $everybody && [ -d "$tmp/theirs" ]; then
	file=$tmp/theirs/many.pb.gz
	ordinary "$portprof" record -q --wall -g -o "$file" -- \
		"$programs/waits" known "$many_rounds" 8 >"$tmp/own" \
		2>"$tmp/words"
	known "eight workers of an ordinary user" running
fi
# shellcheck disable=SC2086 # several
kill $others
at_end=:

# a command that has begun long before
"$portprof" record -q --off-cpu -D 1000 -o "$tmp/late.pb.gz" -- sleep 3
"$portprof" report -q -x , -e blocked-time -s label:wait "$tmp/late.pb.gz" \
	>"$tmp/late" 2>&1
# shellcheck disable=SC2016 # awk's own
check "--delay: what is left of its sleep" awk -F, '
	/sleep/ { slept += $2 } END { exit !(slept > 0.5e9 && slept < 2.9e9) }' \
	"$tmp/late"

# short WORDS WAY COUNT: threads and processes that mostly end before anybody looks.
# Each is counted, for as long as it lived: the program itself saw how long.
short() {
	begun=$(date +%s%N)
	"$portprof" record -q --off-cpu -o "$tmp/short.pb.gz" -- \
		"$programs/waits" "$2" "$3" >"$tmp/own"
	ended=$(date +%s%N)
	if perf_is_filtered; then
		closes "$1" "$tmp/short.pb.gz" 1
		skip "$1: lives" "births are not told"
		return
	fi
	closes "$1" "$tmp/short.pb.gz" $(($3 + 1))
	# shellcheck disable=SC2016 # awk's own
	check "$1: lives" awk -v whole=$((ended - begun)) -v first="$tmp/own" '
		FILENAME == first { own[$1] = $2; next }
		{ life = $2 / 1e9 }
		END {
			most = own["outside"] + whole / 1e9
			print "# life", life, "at least", own["inside"],
				"at most", most
			exit !(life > own["inside"] * 0.99 && life < most * 1.03)
		}' "$tmp/own" "$tmp/life"
}
threads=$(by_speed 500 10000 10000)
processes=$(by_speed 200 2000 2000)
short "$threads threads" threads "$threads"
short "$processes processes" processes "$processes"

# nobody is disturbed
"$portprof" record -q --wall -g -o "$tmp/kinds.pb.gz" -- "$programs/waits" \
	calls 3 >"$tmp/own" 2>&1
has "no call is broken off" '^eintr 0$' "$tmp/own"

# each thread is named for what it waits for
"$portprof" record -q --off-cpu -o "$tmp/all.pb.gz" -- "$programs/waits" \
	kinds 3000 >"$tmp/own" 2>&1
"$portprof" report -q -x , -n 0 --idle -e blocked-time -s thread,label:wait \
	"$tmp/all.pb.gz" >"$tmp/kinds" 2>&1
for kind in sleep lock condition network pipe child poll idle; do
	# shellcheck disable=SC2016 # awk's own
	check "kinds: $kind" awk -F, -v kind="$kind" '
		$7 == kind && $10 == kind { right += $2 }
		$7 == kind && $10 != kind { wrong += $2 }
		END { exit !(right > 10 * wrong) }' "$tmp/kinds"
done
sed 's/^/# /' "$tmp/kinds"

# the list of all connections is longer than what one read of it gives
peers=60
"$portprof" record -q --off-cpu -o "$tmp/peers.pb.gz" -- "$programs/waits" \
	peers $peers 2000 >"$tmp/own" 2>&1
"$portprof" report -q -x , -n 0 -e blocked-time -s thread,on "$tmp/peers.pb.gz" \
	>"$tmp/peers" 2>&1
port=$(sed -n 's/^port //p' "$tmp/own")
# shellcheck disable=SC2016 # awk's own
check "each connection's server has a name" awk -F, -v on="tcp 127.0.0.1:$port" '
	$7 == "peer" && $10 == on { right += $2 }
	$7 == "peer" && $10 != on { wrong += $2 }
	END { exit !(right > 10 * wrong) }' "$tmp/peers"
head -n 5 "$tmp/peers" | sed 's/^/# /'

# until the signal that ended it, its first thread slept; from the last look on, which a
# busy machine may leave out for long, nobody knows
# shellcheck disable=SC2016 # awk's own
check "kinds: the first thread, too" awk -F, -v unknown="$(life \
	"$tmp/all.pb.gz" | cut -d' ' -f6)" '
	$7 == "waits" && $10 == "sleep" { slept += $2 }
	END { exit !(slept + unknown > 2.7e9) }' "$tmp/kinds"

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

# One that has ended, and whose parent does not ask for it, is shown for as long.
"$portprof" record -q --off-cpu -o "$tmp/dead.pb.gz" -- python3 -c '
import os, time
if not os.fork():
    while time.process_time() < 0.2:
        pass
    os._exit(0)
os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
for i in range(25):
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
    time.sleep(0.02)
os.wait()
used = os.times()
print(int(1e9 * (used[0] + used[1] + used[2] + used[3])))' >"$tmp/own"
life "$tmp/dead.pb.gz" >"$tmp/life"
# shellcheck disable=SC2016 # awk's own
check "the dead are counted once" awk -v first="$tmp/own" '
	FILENAME == first { own = $1; next }
	{ print "# running", $3 / 1e9, "of", own / 1e9; seen = $3 < 1.5 * own }
	END { exit !seen }' "$tmp/own" "$tmp/life"
tap_end
