#!/bin/sh
# SPDX-License-Identifier: MIT
# Who runs already is measured from outside, and is not disturbed by it: a
# process with its children, or without them, or one thread; until it ends, a
# signal comes, or a command has ended.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3
need_backend perf

# target THREADS: a burn that continues until SIGTERM; its number is $target
target() {
	rm -f ready
	"$burn" 200 "$1" trap >ready &
	target=$!
	wait_for test -s ready
}

stop_target() {
	kill -TERM "$target"
	wait "$target"
	same "$1: the target was not disturbed" 7 $?
}

# in_samples PATTERN: whether the profile has samples in such a function
# shellcheck disable=SC2317 # for wait_for
in_samples() {
	"$portprof" report -q -i p.pb.gz 2>/dev/null | grep -q "$1"
}

### A process

target 1
record -p "$target" -F 1000 -o p.pb.gz -- sh -c 'sleep 1; exit 3'
same "-p with a command: its exit status" 3 "$status"
claim "-p with a command: the process is there, the command is not" \
	"f('burn_much') > 0 and all(x['pid'] == $target for x in r['threads'])"
claim "-p: parts make the total" \
	'weights + r["outside"] + r["unattributed"] == r["total_weight"]'
claim "-p: most of it is in samples" 'weights > r["total_weight"] / 2'
judge p.pb.gz

# A server whose own process does nothing: its workers run already, and more of
# them come while it is measured.
cat >server.py <<'EOF2'
import os, signal, subprocess, sys
burn = sys.argv[1]
old = subprocess.Popen([burn, "200", "1", "trap"], stdout=subprocess.DEVNULL)
with open("serves", "w") as out:
    out.write(str(old.pid))
signal.signal(signal.SIGTERM, lambda *_: (old.terminate(), old.wait(), os._exit(0)))
while True:
    subprocess.run([burn, "20"], stdout=subprocess.DEVNULL)
EOF2
python3 server.py "$burn" &
server=$!
wait_for test -s serves
record -p "$server" -F 1000 -o p.pb.gz -- sleep 1
claim "-p: a worker that ran already is measured" \
	'int(open("serves").read()) in {x["pid"] for x in r["threads"]}'
claim "-p: so are the processes that come" \
	'len({x["pid"] for x in r["threads"]}) > 2'
judge p.pb.gz
record -p "$server" --no-inherit -F 1000 -o p.pb.gz -- sleep 0.2
claim "-p --no-inherit: the one alone" \
	'all(x["pid"] == '"$server"' for x in r["threads"])'
judge p.pb.gz
kill -TERM "$server"
wait "$server"

# The profile is there while it is written, and ends with a signal.
rm -f p.pb.gz
"$portprof" record -p "$target" -F 1000 -o p.pb.gz 2>"$tmp/words" &
recorder=$!
wait_for in_samples burn_much
same "-p: the profile can be read while recording" 0 $?
kill -TERM $recorder
wait $recorder
same "-p, SIGTERM: status" 0 $?
has "-p, SIGTERM: what happened" \
	"SIGTERM ended the recording; process $target \\(burn\\)" \
	"$tmp/words"
claim "-p, SIGTERM: the profile is whole" "r['complete'] and f('burn_much') > 0"
judge p.pb.gz
stop_target "-p"

# The target ends.
rm -f p.pb.gz
target 2
"$portprof" record -p "$target" -F 1000 -o p.pb.gz 2>"$tmp/words" &
recorder=$!
wait_for in_samples burn_much
kill -KILL "$target"
wait $recorder
same "-p, target killed: status" 0 $?
has "-p, target killed: what happened" "process $target \\(burn\\) has ended" \
	"$tmp/words"
claim "-p, target killed: what was collected is there" \
	"r['complete'] and f('burn_much') > 0"
judge p.pb.gz
wait "$target" 2>/dev/null

### One thread

target 3
record -t "$target" -F 1000 -o p.pb.gz -- sleep 1
same "-t: status" 0 "$status"
claim "-t: this thread and no other" \
	"[(x['pid'], x['tid']) for x in r['threads']] == [($target, $target)]"
judge p.pb.gz
stop_target "-t"

### Children

echo "while [ ! -e stop ]; do '$burn' 60; done; exit 5" >loop.sh
for inherit in yes no; do
	rm -f stop
	sh loop.sh &
	loop=$!
	option=
	[ $inherit = yes ] || option=--no-inherit
	record $option -p $loop -F 1000 -o p.pb.gz -- sleep 2
	same "-p $option: status" 0 "$status"
	touch stop
	wait $loop
	same "-p $option: the shell was not disturbed" 5 $?
	if [ $inherit = yes ]; then
		claim "-p: processes created later are there" "f('burn_much') > 0"
		judge p.pb.gz
	else
		claim "-p --no-inherit: they are not" "f('burn_much') == 0"
		judge p.pb.gz
	fi
done

### The whole system

record -q -a -o p.pb.gz -- true
whole=$status
if [ "$whole" -eq 0 ]; then
	target 1
	rm -f go
	(while [ ! -e go ]; do "$burn" 50; done) &
	loop=$!
	record -a -F 1000 -o p.pb.gz -- sh -c 'sleep 2; exit 3'
	same "-a with a command: its exit status" 3 "$status"
	: >go
	wait $loop
	claim "-a: who ran before is there, by name" \
		"any(x['pid'] == $target and x['name'] == 'burn' for x in r['threads'])"
	claim "-a: so is who came later" \
		"any(x['pid'] != $target and x['name'] == 'burn' for x in r['threads'])"
	# but for what had just ended, whose number the kernel no longer tells
	claim "-a: nobody is not" \
		"sum(x['weight'] for x in r['threads'] if x['pid'] == 0) * 50 <= r['total_weight']"
	claim "-a: what has no number is what had exited" \
		"all(x['name'] == '(exited)' for x in r['threads'] if x['pid'] == 0)"
	claim "-a: functions have names" "f('burn_much') > 0"
	claim "-a: parts make the total" \
		'weights + r["outside"] + r["unattributed"] == r["total_weight"]'
	judge p.pb.gz
	stop_target "-a"
	record -C 0 --duration 0.3 -F 1000 -o p.pb.gz
	same "-C 0 for a while: status" 0 "$status"
	claim "-C 0: no more than one CPU's time" \
		"r['total_weight'] <= 1.1 * r['duration_ns']"
	judge p.pb.gz
else
	has "-a: why not" 'the whole system: .*perf_event_paranoid' "$tmp/words"
	skip "-a" "$(tail -n 1 "$tmp/words" | tr '#' ' ')"
fi

### Refused, before anything is touched

echo precious >"$tmp/kept"
# refused WORDS PATTERN ARGUMENT...
refused() {
	refused_words=$1 refused_pattern=$2
	shift 2
	cp kept p.pb.gz
	rm -f p.pb.gz.old
	record "$@" -o p.pb.gz
	same "$refused_words: status" 125 "$status"
	has "$refused_words: words" "$refused_pattern" "$tmp/words"
	same "$refused_words: no file is touched" "precious p.pb.gz" \
		"$(cat p.pb.gz) $(echo p.pb.gz*)"
}

sleep 600 &
sleeper=$!
sh -c : &
gone=$!
wait $gone
refused "a process that has ended" "no process $gone, or it has ended" -p $gone
refused "no process's number" "'12x' is not the number of a process" -p 12x
refused "two targets" 'one target at a time' -p $sleeper -t $sleeper
refused "no such CPU" "CPUs '0,99999' are not all online|$filtered" -C 0,99999 -- true
refused "no list of CPUs" "'0-' is not a list of CPUs" -C 0- -- true
refused "a process of the whole system" 'one target at a time' -a -p $sleeper
refused "a backend that sees one process" 'timer lacks .*system' -b timer -a
refused "a backend that cannot attach" 'timer lacks .*attach' -b timer \
	-p $sleeper
if [ "$(id -u)" -eq 0 ] && become_ordinary; then
	mkdir -m 777 open
	ordinary "$portprof" record -b perf -p $sleeper -o open/p.pb.gz \
		2>"$tmp/words"
	same "somebody else's process: status" 125 $?
	has "somebody else's process: words" \
		"$sleeper .*(owner.*cap_perfmon|hidepid)" \
		"$tmp/words"
	same "somebody else's process: nothing is left" "" "$(ls open)"
	ordinary "$portprof" record -a -o open/p.pb.gz -- true 2>"$tmp/words"
	status=$?
	if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 0 ]; then
		same "-a as an ordinary user: status" 125 "$status"
		has "-a as an ordinary user: words" \
			'not the whole system: .*sysctl kernel.perf_event_paranoid=0' \
			"$tmp/words"
		same "-a as an ordinary user: nothing is left" "" "$(ls open)"
	fi
else
	skip "somebody else's process" "there is nobody else here"
fi
cp kept p.pb.gz
record -p $sleeper -o p.pb.gz -- ./no-such-command
same "no such command: status" 127 "$status"
same "no such command: no file is touched" precious "$(cat p.pb.gz)"
printf '\177ELF\002\001\001 this is no program' >broken
chmod +x broken
rm -f p.pb.gz.old
record -p $sleeper -o p.pb.gz -- ./broken
same "a command that cannot be run: status" 126 "$status"
same "a command that cannot be run: no file is touched" "precious p.pb.gz" \
	"$(cat p.pb.gz) $(echo p.pb.gz*)"

# Who sleeps collects nothing, and that is explained.
record -p $sleeper -o p.pb.gz -- sleep 0.2
same "a sleeper: status" 0 "$status"
has "a sleeper: why there is nothing" \
	'no sample: the target used 0.000 ms of CPU time, .* expected' "$tmp/words"
kill $sleeper

### How it was measured

record -v -F 997 -o p.pb.gz -- "$burn" 50
has "-v: what was measured" 'task-clock:freq=997: .*CPU time' "$tmp/words"
has "-v: at which rate" '997 Hz asked, 997.0 granted' "$tmp/words"
# asked HZ: what the last one asked for
asked() {
	sed -n 's/.*[^0-9]\([0-9][0-9]* Hz\) asked.*/\1/p' "$tmp/words" | head -n 1
}
record -v -o p.pb.gz -- "$burn" 50
of_command=$(asked)
sleep 600 &
sleeper=$!
record -v -p $sleeper --duration 0.1 -o p.pb.gz
same "a process for some seconds: at the rate of a command" "$of_command" "$(asked)"
echo 'duration = 100ms' >seconds.conf
record -v -p $sleeper --config seconds.conf -o p.pb.gz
same "and where a file says so" "$of_command" "$(asked)"
record -v -p $sleeper --config seconds.conf --duration 0.2 -o p.pb.gz
same "or both do" "$of_command" "$(asked)"
record -v -p $sleeper -o p.pb.gz -- sleep 0.1
[ "$of_command" != '499 Hz' ] ||
	same "a process until it ends: at the usual rate" '101 Hz' "$(asked)"
kill $sleeper
record --color always -o p.pb.gz -- true
has "--color always: the name stands out" '^.\[1mportprof:.\[0m ' "$tmp/words"
CLICOLOR_FORCE=1 record -o p.pb.gz -- true
has "CLICOLOR_FORCE: so it does" '^.\[1mportprof:' "$tmp/words"
NO_COLOR=1 CLICOLOR_FORCE=1 record -o p.pb.gz -- true
has_not "NO_COLOR: it does not" '\[1m' "$tmp/words"
NO_COLOR=1 record --color always -o p.pb.gz -- true
has "--color wins over NO_COLOR" '^.\[1mportprof:' "$tmp/words"
record -o p.pb.gz -- true
has_not "no terminal: no colour" '\[' "$tmp/words"
record --color sometimes -o p.pb.gz -- true
same "--color sometimes: status" 125 "$status"

# Chains can be taken back, as can those of a configuration file.
record -g --call-graph none -o p.pb.gz -- "$burn" 50
same "--call-graph none: status" 0 "$status"
record -m 16 -F 1000 -o p.pb.gz -- "$burn" 50
same "-m in pages: status" 0 "$status"
record -m 64K -F 1000 -o p.pb.gz -- "$burn" 50
same "-m in bytes: status" 0 "$status"
refused "-m of something else" "ring '64Q'" -m 64Q -- true
tap_end
