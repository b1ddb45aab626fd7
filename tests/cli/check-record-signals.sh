#!/bin/sh
# SPDX-License-Identifier: MIT
# Signals, terminals, and commands that end in other ways than by returning:
# the profile is there, the exit status is right, a message says what happened.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3

# unhindered COMMAND...: with signals as a shell gives them to what is in the
# foreground; in the background it ignores SIGINT.
cat >unhindered.py <<'EOF2'
import os, signal, sys
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE):
    signal.signal(number, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])
EOF2

# has_samples: whether the profile has samples by now
# shellcheck disable=SC2317 # for wait_for
has_samples() {
	"$portprof" report -q -i p.pb.gz 2>/dev/null | grep -q burn_
}

# shellcheck disable=SC2086 # a word each
for backend in $(some_of perf timer itimer); do
	if ! can_use $backend; then
		skip "$backend" "$(tail -n 1 "$tmp/words" | tr '#' ' ')"
		continue
	fi

	### To the recorder

	for pair in INT:130 HUP:129 QUIT:131; do
		name=${pair%:*}
		rm -rf p.pb.gz* ready
		python3 unhindered.py "$portprof" record -b $backend -F 1000 \
			-o p.pb.gz -- "$burn" 100 1 trap >ready 2>"$tmp/words" &
		recorder=$!
		wait_for has_samples
		kill -"$name" $recorder
		wait $recorder
		same "$backend, SIG$name: status" "${pair#*:}" $?
		has "$backend, SIG$name: what happened" \
			"the command was killed by SIG$name" "$tmp/words"
		claim "$backend, SIG$name: the profile is there" \
			"f('burn_much') > 0"
		judge p.pb.gz
		same "$backend, SIG$name: nothing else was left" p.pb.gz \
			"$(echo p.pb.gz*)"
	done

	rm -rf p.pb.gz* ready
	"$portprof" record -b $backend -F 1000 -o p.pb.gz -- sh -c \
		"trap '' TERM; : >ready; '$burn' 1500; exit 5" 2>"$tmp/words" &
	recorder=$!
	wait_for has_samples
	kill -TERM $recorder
	wait $recorder
	same "$backend, a command that ignores SIGTERM: status" 5 $?
	claim "$backend, a command that ignores SIGTERM: all of it is there" \
		"weights > 1000 * ms"
	judge p.pb.gz

	### On a terminal

	if has_terminals; then
		rm -rf p.pb.gz* ready
		python3 "$srcdir/tests/cli/terminal.py" "$tmp/ready" 2 '^C' sh -c \
			"exec '$portprof' record -b $backend -F 1000 -o p.pb.gz -- \
			'$burn' 100 1 trap >ready" >"$tmp/words"
		same "$backend, Ctrl-C: status" 130 $?
		has "$backend, Ctrl-C: what happened" \
			'the command was killed by SIGINT' "$tmp/words"
		has_not "$backend, Ctrl-C: the terminal is the command's" \
			'recording' "$tmp/words"
		claim "$backend, Ctrl-C: the profile is there" "f('burn_much') > 0"
		judge p.pb.gz
		# the terminal tells that the recorder alone, which leads the session
		rm -rf p.pb.gz* ready
		python3 "$srcdir/tests/cli/terminal.py" "$tmp/ready" 2 'HANG UP' sh -c \
			"exec '$portprof' record -b $backend -F 1000 -o p.pb.gz -- \
			'$burn' 100 1 trap >ready 2>words" >"$tmp/printed"
		same "$backend, hung up: status" 129 $?
		has "$backend, hung up: what happened" \
			'the command was killed by SIGHUP' "$tmp/words"
		claim "$backend, hung up: the profile is there" "f('burn_much') > 0"
		judge p.pb.gz
	else
		skip "$backend, Ctrl-C, hung up" "no terminal can be made here"
	fi

	### Commands

	rm -rf p.pb.gz*
	record -b $backend -F 1000 -o p.pb.gz -- sh -c \
		"'$burn' 300; kill -SEGV \$\$"
	same "$backend, a crash: status" 139 "$status"
	has "$backend, a crash: what happened" \
		'the command was killed by SIGSEGV' "$tmp/words"
	claim "$backend, a crash: the profile is there" "f('burn_much') > 0"
	judge p.pb.gz

	rm -rf p.pb.gz*
	record -b $backend -F 1000 -o p.pb.gz -- "$burn" 200 1 daemon
	same "$backend, a daemon: status" 0 "$status"
	has "$backend, a daemon: what happened" \
		'1 process of the command still runs.* portprof record -p PID' "$tmp/words"
	claim "$backend, a daemon: the time before is there" \
		"f('burn_much') > 0"
	judge p.pb.gz
	# its number is known to nobody but the system
	for process in /proc/[0-9]*; do
		[ "$(readlink "$process/exe" 2>/dev/null)" != \
			"$(readlink -f "$burn")" ] ||
			[ "$(readlink "$process/cwd")" != "$(pwd -P)" ] ||
			kill -TERM "${process#/proc/}"
	done

	rm -rf p.pb.gz*
	record -b $backend -F 1000 -o p.pb.gz -- "$burn" 200 1 children
	same "$backend, a thousand children: status" 0 "$status"
	claim "$backend, a thousand children: none disturbed the others" \
		"f('burn_much') > 0 and r['complete']"
	claim "$backend, a thousand children: nothing is lost" "r['lost'] == 0"
	closes "$backend, a thousand children" 5
	judge p.pb.gz
	same "$backend, a thousand children: nothing else was left" p.pb.gz \
		"$(echo p.pb.gz*)"

	rm -rf p.pb.gz*
	# at a usual rate its first period, which is random, may end before it does
	record -b $backend -F 1 -o p.pb.gz -- sh -c 'kill -KILL $$'
	same "$backend, killed at once: status" 137 "$status"
	has "$backend, killed at once: what happened" \
		'the command was killed by SIGKILL' "$tmp/words"
	has "$backend, killed at once: why there is nothing" \
		'no sample: the command used .* expected' "$tmp/words"
	claim "$backend, killed at once: nothing is claimed" "r['samples'] == 0"
	judge p.pb.gz
done

# Whoever started us may have had SIGCHLD ignored.
python3 -c 'import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execvp(sys.argv[1], sys.argv[1:])' "$portprof" record -q -o p.pb.gz -- \
	sh -c 'exit 3'
same "SIGCHLD ignored: status" 3 $?

### Progress

if can_use perf && has_terminals; then
	"$burn" 200 1 trap >ready &
	target=$!
	wait_for test -s ready
	python3 "$srcdir/tests/cli/terminal.py" ' samples, [1-9]' 0 '^C' \
		env TERM=xterm "$portprof" record -p $target -F 1000 -o p.pb.gz \
		>"$tmp/words"
	same "-p on a terminal, Ctrl-C: status" 0 $?
	has "-p on a terminal: how it goes" \
		'recording \(Ctrl-C ends it\): [0-9]+ samples, [0-9]+ s' \
		"$tmp/words"
	has "-p on a terminal: what ended it" \
		"SIGINT ended the recording; process $target" "$tmp/words"
	python3 "$srcdir/tests/cli/terminal.py" 'x' 0 '' env TERM=dumb \
		"$portprof" record -p $target --duration 1.5 -o p.pb.gz \
		>"$tmp/words"
	has_not "on a dumb terminal there is no line" 'Ctrl-C' "$tmp/words"
	kill -TERM $target
	wait $target
	same "-p on a terminal: the target was not disturbed" 7 $?
else
	skip "-p on a terminal" "$(tail -n 1 "$tmp/words" | tr '#' ' ')"
fi
tap_end
