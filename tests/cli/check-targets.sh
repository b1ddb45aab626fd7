#!/bin/sh
# SPDX-License-Identifier: MIT
# Several processes, all of a name, a unit and a container are attached to as
# one is; who cannot be is counted; a wrong name gets those like it.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3

### What is refused before anything is asked of the kernel

# refused NAME PATTERN ARGUMENT...: by record and by stat
refused() {
	refused_name=$1 refused_pattern=$2
	shift 2
	for refused_verb in record stat; do
		"$portprof" $refused_verb "$@" >printed 2>words
		same "$refused_verb, $refused_name: status" 125 $?
		has "$refused_verb, $refused_name: words" "$refused_pattern" \
			words
	done
}
refused "a list with a hole" "'1,,2' is not" -p 1,,2
refused "a list that continues" "'1,' is not" -p 1,
refused "a name and a number" 'one target at a time' -p 1 --name init
refused "a unit and a container" 'one target at a time' --unit a --container b
refused "a name of nobody" "name 'no-such-name-x9'" --name no-such-name-x9
refused "no such unit" "no unit 'no-such-unit-x9'" --unit no-such-unit-x9
refused "no such container" "no container 'no-such-x9'" --container no-such-x9

if ! can_use perf; then
	echo "# skip: $(tail -n 1 words)"
	tap_end
fi

### Several processes, by number and by name

name=ppb$$
cp "$burn" "./$name" && cp "$burn" "./a-name-beyond-fifteen-bytes-$$" || exit 99
if ! "./$name" 1 >/dev/null 2>&1; then
	echo "# skip: a copy of a program does not run here"
	tap_end
fi
# begin PROGRAM: one that continues until SIGTERM; its number is $begun
begin() {
	rm -f ready
	"$1" 200 1 trap >ready &
	begun=$!
	wait_for test -s ready
}
begin "./$name"
first=$begun
begin "./$name"
second=$begun
begin "./a-name-beyond-fifteen-bytes-$$"
long=$begun
pids='{x["pid"] for x in r["threads"]}'

record -p "$first,$second" -F 1000 -o p.pb.gz -- sleep 0.5
same "-p A,B: status" 0 "$status"
claim "-p A,B: both, and nobody else" "$pids == {$first, $second}"
claim "-p A,B: parts make the total" \
	'weights + r["outside"] + r["unattributed"] == r["total_weight"]'
judge p.pb.gz
"$portprof" report -v p.pb.gz >text
has "-p A,B: the header has the time that is known" \
	'^ *CPU time +[0-9.]+ m?s' text
record -p "$first,$long" --no-inherit -F 1000 -o p.pb.gz -- sleep 0.5
claim "-p A,B --no-inherit: both" "$pids == {$first, $long}"
claim "-p A,B --no-inherit: functions have names" "f('burn_much') > 0"
judge p.pb.gz
record --name "$name" -F 1000 -o p.pb.gz -- sleep 0.5
claim "--name: all of that name" "$pids == {$first, $second}"
judge p.pb.gz
record --name "$PWD/$name" -F 1000 -o p.pb.gz -- sleep 0.5
claim "--name PATH: all that run that program" "$pids == {$first, $second}"
judge p.pb.gz
record --name "a-name-beyond-fifteen-bytes-$$" -F 1000 -o p.pb.gz -- sleep 0.5
claim "--name longer than the kernel keeps" "$pids == {$long}"
judge p.pb.gz
refused "the beginning of a long name" 'no process has the name' \
	--name "a-name-beyond-fifteen-bytes"
refused "a name like it" "$name" --name "${name}x"
sh -c : &
gone=$!
wait $gone
refused "one of a list has ended" "no process $gone" -p "$first,$gone"

"$portprof" stat -p "$first,$second" -e task-clock --json --duration 0.5 >counts
python3 -c '
import json, sys
r = json.load(open("counts"))
one = r["events"][0]["value"]
sys.exit(not (r["pids"] == [int(x) for x in sys.argv[1:]] and one > 1e7))' \
	"$first" "$second"
same "stat -p A,B: both are counted" 0 $?
"$portprof" stat --name "$name" -e task-clock --duration 0.1 >printed
has "stat --name: who that was" "in 2 processes \\($name\\)" printed

### Somebody else's

if [ "$(id -u)" -eq 0 ] && become_ordinary; then
	chmod 755 "$name"
	mkdir -m 777 open
	# shellcheck disable=SC2016
	ordinary sh -c 'echo $$ >open/pid && exec "$0" 200 1 trap' "./$name" \
		>open/ready 2>/dev/null &
	other=$!
	wait_for test -s open/ready
	if ordinary "$portprof" record --name "$name" -F 1000 -o open/p.pb.gz \
		--duration 0.5 2>words; then
		# a system may hide others' processes (hidepid of proc(5))
		missing='2 threads .*could not be attached'
		ordinary test -e "/proc/$first/stat" || missing=.
		has "others' processes of that name are counted" "$missing" words
		claim "and the own one is measured" \
			"$first not in $pids and f('burn_much') > 0"
		judge open/p.pb.gz
		ordinary "$portprof" stat --name "$name" -e page-faults:u \
			--duration 0.1 >printed 2>words
		[ "$missing" = . ] ||
			has "by stat, too" "$missing" words
	else
		skip "others' processes" "$(tail -n 1 words | tr '#' ' ')"
	fi
	kill -TERM "$(cat open/pid)"
	wait "$other"
fi

### All have ended

rm -f p.pb.gz
"$portprof" record --name "$name" -F 1000 -o p.pb.gz 2>words &
recorder=$!
wait_for test -s p.pb.gz
kill -TERM "$first"
wait "$first"
same "attached to several: none is disturbed" 7 $?
check "one has ended: the others are measured on" kill -0 $recorder
kill -TERM "$second"
wait "$second"
wait $recorder
same "all have ended: status" 0 $?
has "all have ended: who" "2 processes \\($name\\) have ended" words
kill -TERM "$long"
wait "$long"

### A server that forks without a pause

cat >server.py <<'END'
import os, subprocess, sys
with open("children", "a") as out:
    while not os.path.exists("stop"):
        pair = [subprocess.Popen([sys.argv[1], "100"],
                                 stdout=subprocess.DEVNULL) for _ in range(2)]
        for one in pair:
            out.write("%d\n" % one.pid)
        out.flush()
        for one in pair:
            one.wait()
END
python3 server.py "$PWD/$name" &
server=$!
wait_for test -s children
rm -f p.pb.gz
"$portprof" record -p $server -F 1000 -o p.pb.gz -- sh -c '
	cp children before; sleep 2; cp children after' 2>words
same "a server that forks: status" 0 $?
: >stop
wait $server
# who began behind the first copy and had ended before the second
claim "no child that lived 100 ms is missing" \
	"{int(x) for x in open('after').read().split()[:-2]} - {int(x) for x in open('before').read().split()} <= $pids"
claim "there were some" \
	"len(open('after').read().split()) > len(open('before').read().split())"
judge p.pb.gz

# Who asks for its own family is no part of it, nor is what says for how long.
cat >own.sh <<'END'
"$1" record -p $$ -F 1000 -o p.pb.gz -- "$2" 100 >printed 2>words
exit $?
END
sh own.sh "$portprof" "$burn"
same "the shell that records itself: status" 0 $?
claim "it does not measure the recorder, nor its command" \
	"f('burn_much') == 0 and not any('portprof' in x['name'] for x in r['threads'])"
judge p.pb.gz

### A unit, which is a cgroup

group=
for mount in /sys/fs/cgroup/perf_event /sys/fs/cgroup/unified /sys/fs/cgroup; do
	[ -e "$mount/cgroup.procs" ] || continue
	group=$mount/pptest$$.service
	mkdir "$group" 2>/dev/null && break
	group=
done
if [ -z "$group" ]; then
	echo "# skip: no cgroup can be made here"
	tap_end
fi
# shellcheck disable=SC2016
sh -c 'echo $$ >"$1/cgroup.procs" && exec "$2" 200 1 trap' - "$group" \
	"./$name" >inside &
inside=$!
wait_for test -s inside
begin "./$name"
outside=$begun
record --unit "pptest$$" -F 1000 -o p.pb.gz -- sleep 0.5
same "--unit: status" 0 "$status"
claim "--unit: what is in it, and nothing else" \
	"$pids == {$inside} and f('burn_much') > 0"
judge p.pb.gz
refused "a unit like it" "pptest$$.service" --unit "pptset$$.service"
"$portprof" stat --unit "pptest$$.service" -e task-clock --duration 0.2 \
	>printed 2>words
has "stat --unit: what it was" "unit pptest$$" printed
rm -f p.pb.gz
"$portprof" record --unit "pptest$$" -F 1000 -o p.pb.gz 2>words &
recorder=$!
wait_for test -s p.pb.gz
kill -TERM "$inside" "$outside"
wait "$inside"
wait "$outside"
wait $recorder
same "a unit has ended: status" 0 $?
has "a unit has ended: words" "unit pptest$$ has ended" words
rmdir "$group"
tap_end
