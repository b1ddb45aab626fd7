#!/bin/sh
# SPDX-License-Identifier: MIT
# portprof stat counts what is known, what perf stat counts, and says so where
# it cannot count.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3
touch=$builddir/tests/cli/touch
deny=$builddir/tests/cli/deny

# stat ARGUMENT...: counts to $tmp/counts, other words to $tmp/words
stat() {
	"$portprof" stat -o "$tmp/counts" "$@" >"$tmp/printed" 2>"$tmp/words"
	status=$?
}

# stat_json ARGUMENT...: the same; holds EXPRESSION can be asked then, with e
# the events by name and r the last object, all the list of them
stat_json() {
	stat --json "$@"
}
holds() {
	if python3 -c '
import json, sys
text = open(sys.argv[1], encoding="utf-8").read()
try:
    all = [json.loads(text)]
except ValueError:
    all = [json.loads(line) for line in text.splitlines()]
r = all[-1]
e = {x["event"]: x for x in r["events"]}
v = {x["event"].split(":")[0]: x["value"] for x in r["events"]}
sys.exit(not eval(sys.argv[2]))
' "$tmp/counts" "$2" 2>"$tmp/trace"; then
		ok "$1"
	else
		not_ok "$1"
		echo "# fails: $2"
		tail -n 1 "$tmp/trace" | sed 's/^/# /'
		head -n 40 "$tmp/counts" | sed 's/^/# > /'
	fi
}

# faults ARGUMENT...: the page faults of a command, in $faults
faults() {
	stat_json -e page-faults "$@"
	faults=$(python3 -c '
import json, sys
print(json.load(open(sys.argv[1]))["events"][0]["value"])' "$tmp/counts")
}

### The command line

refused() {
	refused_words=$1 refused_status=$2 refused_pattern=$3
	shift 3
	rm -f touched "$tmp/counts"
	stat "$@"
	same "$refused_words: status" "$refused_status" "$status"
	has "$refused_words: words" "$refused_pattern" "$tmp/words"
	check "$refused_words: nothing was run" [ ! -e touched ]
}
printf '#!/bin/sh\n: >touched\n' >run
chmod +x run
refused "no command" 125 '-p PID'
refused "an unknown event" 125 "page-fautls.*did you mean.*page-faults" \
	-e page-fautls -- ./run
refused "a malformed event" 125 "column" -e 'cycles:u:freq=-5' -- ./run
refused "an open brace" 125 'column 12: this brace is not closed' \
	-e 'task-clock,{cycles,instructions' -- ./run
refused "a closing brace alone" 125 'column 7' \
	-e 'cycles},a' -- ./run
refused "a brace in a brace" 125 'groups do not nest' \
	-e '{cycles,{instructions}}' -- ./run
refused "words after a brace" 125 'after a group' -e '{cycles}u' -- ./run
refused "no event between braces" 125 'name is missing' -e '{}' -- ./run
refused "no runs" 125 "'0' is not a number of runs" -r 0 -- ./run
refused "a short interval" 125 "'5' is not a number of milliseconds" -I 5 -- ./run
refused "means and intervals" 125 'exclude each other' -r 2 -I 100 -- ./run
refused "two forms" 125 'exclude each other' -x , --json -- ./run
refused "an unknown colour" 125 'auto, always or never' --color=red -- ./run
refused "duration of a command" 125 '-duration.*-p' --duration 1 -- ./run
refused "a process that is not there" 125 'no process 4194303' -p 4194303
refused "a process and a thread" 125 'exclude each other' -p 1 -t 1
refused "runs of nothing" 125 'no command' -r 3 -p $$
refused "no such command" 127 "no command 'no-such-command'" -- no-such-command
refused "no such configuration file" 125 'gone.conf' --config gone.conf -- ./run
"$portprof" stat -o no/such/file -- ./run >"$tmp/printed" 2>"$tmp/words"
same "an output that cannot be: status" 125 $?
has "an output that cannot be: words" "no/such/file" "$tmp/words"
check "an output that cannot be: nothing was run" [ ! -e touched ]
"$portprof" stat --help >"$tmp/help"
same "--help: status" 0 $?
same "--help is not too wide" "" "$(awk 'length > 79' "$tmp/help")"

### Exit status, and what belongs to the command

for how in 0:0 3:3 kill:137; do
	case $how in
	kill*) stat -- sh -c 'kill -9 $$' ;;
	*) stat -- sh -c "exit ${how%:*}" ;;
	esac
	same "exit status after ${how%:*}" "${how#*:}" "$status"
done
"$portprof" stat -- sh -c 'echo to stdout; echo to stderr >&2' \
	>"$tmp/printed" 2>"$tmp/words"
same "standard output is the command's" "to stdout" "$(cat "$tmp/printed")"
has "standard error has both" '^to stderr' "$tmp/words"
has "standard error has the table" 'seconds time elapsed' "$tmp/words"
"$portprof" stat -o - -- true >"$tmp/printed" 2>"$tmp/words"
has "-o - is standard output" 'seconds time elapsed' "$tmp/printed"
same "and leaves standard error empty" "" \
	"$(grep -v '^portprof: ' "$tmp/words")"
if [ -w /dev/full ]; then
	"$portprof" stat -o /dev/full -- true 2>"$tmp/words"
	same "a full disk: status" 125 $?
	has "a full disk: words" "'/dev/full': No space left" "$tmp/words"
fi
escape=$(printf '\033')
coloured() {
	same "$1" "$2" "$(grep -c "$escape\[" "$tmp/printed")"
}
"$portprof" stat -o - -e task-clock -- true >"$tmp/printed" 2>"$tmp/words"
coloured "no colour where there is no terminal" 0
CLICOLOR_FORCE=1 "$portprof" stat -o - -e task-clock -- true >"$tmp/printed" \
	2>"$tmp/words"
coloured "CLICOLOR_FORCE brings it" 1
CLICOLOR_FORCE=1 NO_COLOR=1 "$portprof" stat -o - -e task-clock -- true \
	>"$tmp/printed" 2>"$tmp/words"
coloured "NO_COLOR takes it away" 0
NO_COLOR=1 "$portprof" stat --color=always -o - -e task-clock -- true \
	>"$tmp/printed" 2>"$tmp/words"
coloured "--color goes before both" 1

### Without counters

# Only where a filter can be set: nothing is counted, nothing is 0 that was not
# counted, and the accounts of wait4 step in.
for errno in EPERM ENOSYS; do
	"$deny" $errno "$portprof" stat --json -o "$tmp/counts" -- "$touch" 500 \
		2>"$tmp/words"
	if [ $? -eq 77 ]; then
		skip "a filter that says $errno" "no system call filter here"
		continue
	fi
	is_sanitized || holds "$errno: faults by wait4" \
		'e["page-faults"]["status"] == "by wait4" and 500 <= v["page-faults"] < 1500'
	holds "$errno: CPU time by wait4" \
		'e["task-clock"]["status"] == "by wait4" and v["task-clock"] > 0'
	holds "$errno: what nobody counted is no number" \
		'e["cpu-migrations"]["status"] == "refused" and v["cpu-migrations"] is None'
	holds "$errno: and why" '"seccomp" in e["cpu-migrations"]["why"]'
	"$deny" $errno "$portprof" stat -e cpu-migrations -- sh -c ':>touched' \
		2>"$tmp/words"
	same "$errno: nothing can be counted: status" 125 $?
	has "$errno: nothing can be counted: words" 'seccomp.*cap-add' "$tmp/words"
	check "$errno: nothing can be counted: nothing was run" [ ! -e touched ]
done

stat_json -e page-faults -- true
if ! grep -q '"status": "ok"' "$tmp/counts"; then
	skip "counting" "perf counts nothing here"
	tap_end
fi

### Known numbers

faults -- "$touch" 1000
few=$faults
for how in '' fork thread; do
	# shellcheck disable=SC2086
	faults -- "$touch" 9000 $how
	more=$((faults - few))
	is_sanitized || check "8000 pages more are 8000 faults more${how:+, in a }$how ($more)" \
		[ $more -ge 7990 -a $more -le 8200 ]
done
faults --no-inherit -- "$touch" 9000 fork
check "--no-inherit leaves the child out" [ "$faults" -lt $((few + 500)) ]
faults -- sh -c "'$touch' 2000; '$touch' 2000"
check "two children of a shell" [ "$faults" -ge 4000 ]
stat_json -e '{task-clock,page-faults},page-faults' -- "$touch" 3000
holds "a group was counted at one time" \
	'r["events"][0]["running_ns"] == r["events"][1]["running_ns"]'
holds "groups have numbers" \
	'[x["group"] for x in r["events"]] == [0, 0, 1]'
holds "the same event twice is the same number" \
	'r["events"][1]["value"] == r["events"][2]["value"]'
holds "a rate within a group, none across groups" \
	'r["events"][1]["metric"]["unit"].endswith("/sec") and "metric" not in r["events"][2]'
holds "and it is the quotient" \
	'abs(r["events"][1]["metric"]["value"] * {"/sec": 1, "K/sec": 1e3, "M/sec": 1e6, "G/sec": 1e9}[r["events"][1]["metric"]["unit"]] - r["events"][1]["value"] * 1e9 / r["events"][0]["value"]) < 1'
stat_json -e '{task-clock,page-faults}:u' -- true
holds "modifiers of a group are of all its events" \
	'[x["asked"] for x in r["events"]] == ["task-clock:u", "page-faults:u"]'
stat_json -e no-inherit-is-no-event -- true
same "an unknown event: status" 125 "$status"

### As perf stat counts

if command -v perf >/dev/null && perf stat -x, -e page-faults -o "$tmp/perf" \
	-- "$touch" 5000 2>/dev/null; then
	theirs=$(awk -F, '$3 ~ /^page-faults/ { print $1 }' "$tmp/perf")
	faults -- "$touch" 5000
	off=$((faults > theirs ? faults - theirs : theirs - faults))
	check "perf stat counts $theirs faults, we $faults" [ $off -le 8 ]
	stat -x , -e page-faults,task-clock -- "$touch" 5000
	fields=$(awk -F, '$3 ~ /^page-faults/ { print NF; exit }' "$tmp/perf")
	same "-x has as many fields" "$fields $fields" \
		"$(awk -F, '{ print NF }' "$tmp/counts" | xargs)"
	same "-x has the same unit and name" \
		"$(awk -F, '$3 ~ /^page-faults/ { print $2, $3 }' "$tmp/perf")" \
		"$(awk -F, 'NR == 1 { print $2, $3 }' "$tmp/counts")"
	perf stat -x, -r 3 -e page-faults -o "$tmp/perf" -- true 2>/dev/null
	stat -x , -r 3 -e page-faults -- true
	same "-x -r has as many fields" \
		"$(awk -F, '$3 ~ /^page-faults/ { print NF; exit }' "$tmp/perf")" \
		"$(awk -F, '{ print NF }' "$tmp/counts")"
else
	skip "as perf stat counts" "no perf that counts here"
fi

### CPU time

stat_json -e task-clock -- "$burn" 200 2
holds "the CPU time of two threads" 'v["task-clock"] >= 390e6'
holds "is that of wait4" \
	'abs(v["task-clock"] - r["user_ns"]["value"] - r["system_ns"]["value"]) < 0.05 * v["task-clock"] + 20e6'
holds "CPUs utilized is CPU time by wall time" \
	'abs(e[list(e)[0]]["metric"]["value"] * r["wall_ns"]["value"] / v["task-clock"] - 1) < 0.01'

### Runs, intervals, delay

stat_json -r 5 -e page-faults -- "$touch" 1000
holds "-r: five runs" 'r["runs"] == 5 and r["events"][0]["runs"] == 5'
holds "-r: mean between least and most" \
	'r["events"][0]["least"] <= r["events"][0]["value"] <= r["events"][0]["most"]'
holds "-r: the error is the deviation by the root of runs" \
	'abs(r["events"][0]["error"] * 5 ** 0.5 - r["events"][0]["deviation"]) <= 1e-6 * r["events"][0]["deviation"]'
stat -r 2 -- true
has "-r prints the mean" 'means of 2 runs' "$tmp/counts"
: >ran
stat -r 3 -- sh -c 'echo x >>ran; exit 4'
same "-r: runs" 3 "$(wc -l <ran | tr -d ' ')"
same "-r: status" 4 "$status"
: >ran
stat -r 3 -- sh -c 'echo x >>ran; kill -INT $$'
same "-r: a signal ends the series" 1 "$(wc -l <ran | tr -d ' ')"

# each begins where the last was read: a busy machine has fewer of them, and longer
stat_json -I 100 -e page-faults -- "$touch" 2000 naps 1500
holds "-I: an object for each interval, and one for all" \
	'5 <= len(all) <= r["wall_ns"]["value"] / 100e6 + 2 and "time_s" not in r'
holds "-I: the parts make the whole" \
	'sum(x["events"][0]["value"] or 0 for x in all[:-1]) == r["events"][0]["value"] >= 4000'
holds "-I: while it sleeps nothing was counted, which is not 0" \
	'any(x["events"][0]["status"] == "idle" and x["events"][0]["value"] is None for x in all[1:-2])'
stat -I 100 -x ';' -e page-faults -- "$touch" 100 naps 250
# shellcheck disable=SC2016
check "-I -x: each line has a time" \
	awk -F';' 'NF != 8 || $1 <= last { exit 1 } { last = $1 }' "$tmp/counts"
stat_json -I 100 -e task-clock -- "$burn" 350 1
holds "-I: an interval's end is when its counts were read: one thread used no more by then" \
	'not any(sum(x["events"][0]["value"] or 0 for x in all[:i + 1]) > 1e9 * all[i]["time_s"] + 1e6 for i in range(len(all) - 1))'
# The first pages are touched at once, the last ones after four seconds.
stat_json -D 2000 -e page-faults -- "$touch" 2000 naps 4000
is_sanitized || holds "-D leaves out what was before" '1990 <= v["page-faults"] <= 2100'
stat -D 60000 -e page-faults -- true
has "-D longer than the command: no number" 'never ran' "$tmp/counts"
has "-D longer than the command: words" 'before the delay' "$tmp/words"

### Processes that run already

"$touch" 3000 naps 1500 &
pid=$!
stat_json -e page-faults,task-clock -p $pid
holds "-p: until it ends" \
	'2000 <= v["page-faults"] <= 6200 and r["pid"] == '$pid
same "-p: status" 0 "$status"
wait $pid
sleep 600 &
pid=$!
# has begun by now
wait_for sh -c "grep -q '^[0-9]* (sleep) S' /proc/$pid/stat"
stat_json -e page-faults -p $pid --duration 1
holds "-p: a process that sleeps is idle, not 0" \
	'r["events"][0]["status"] == "idle" and r["events"][0]["value"] is None'
holds "--duration: about so long" '0.9e9 < r["wall_ns"]["value"] < 20e9'
stat_json -e page-faults -p $pid -- sh -c 'exit 5'
same "-p beside a command: its status" 5 "$status"
"$portprof" stat -p $pid >"$tmp/printed" 2>"$tmp/words" &
stat_pid=$!
# it counts, so it knows what to do at a signal
wait_for sh -c "ls -l /proc/$stat_pid/fd | grep -q perf_event"
kill -TERM $stat_pid
wait $stat_pid
same "-p: stopped by a signal: status" 0 $?
has "-p: to standard output, for there is no command" 'seconds time elapsed' \
	"$tmp/printed"
kill $pid

### All that runs

stat_json -a -e page-faults -- "$touch" 5000
if [ "$status" -eq 0 ]; then
	holds "-a: what a command does is among it" \
		'v["page-faults"] >= 5000 and r["cpus"] == "all"'
	stat_json -C 0 -e cpu-clock --duration 1
	holds "-C: the time of one CPU is charged or idle" \
		'0.9 <= (v["cpu-clock"] + e["cpu-clock"].get("idle_ns", 0)) / e["cpu-clock"]["enabled_ns"] <= 1.1 and r["cpus"] == "0"'
	awk 'BEGIN { for (;;) ; }' &
	pid=$!
	taskset -pc 0 $pid >"$tmp/placed" 2>&1 &&
		stat_json -C 0 -e cpu-clock --duration 1 &&
		holds "-C: a CPU that is busy is not idle" \
			'e["cpu-clock"].get("idle_ns", 0) < 0.9 * e["cpu-clock"]["enabled_ns"]'
	kill $pid
	wait $pid 2>/dev/null
	stat_json -a --duration 1
	holds "-a: its default events" '"cpu-clock" in v and "context-switches" in v'
else
	has "-a: refused with a reason" 'paranoid|permi|rights' "$tmp/words"
fi
# That comes before rights, but where nothing can be measured at all.
if can_use perf; then
	refused "a CPU that is not there" 125 4095 -C 4095 -e cpu-clock -- ./run
else
	skip "a CPU that is not there" "no perf here"
fi
refused "all CPUs and a process" 125 'exclude each other' -a -p 1 -- ./run

### Configuration files

printf 'event = page-faults\n[time]\nevent = task-clock:freq=100\n' >stat.conf
stat_json --config stat.conf --set time -- "$touch" 1000
holds "events of a set are counted" \
	'list(v) == ["page-faults", "task-clock"] and v["page-faults"] >= 1000'
stat_json --config stat.conf -e cpu-clock -- true
holds "-e goes before the file" 'list(v) == ["cpu-clock"]'

printf 'event = {task-clock,page-faults}\nevent = context-switches\n' >group.conf
stat_json --config group.conf -- "$touch" 1000
holds "a group of a file is one group, and related" \
	'[x["group"] for x in r["events"]] == [0, 0, 1] and r["events"][1]["metric"]["unit"].endswith("/sec") and "metric" not in r["events"][2]'

### Ordinary users

if [ "$(id -u)" -eq 0 ] &&
	[ "$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null)" = 2 ] &&
	become_ordinary; then
	chmod 755 "$tmp"
	ordinary "$portprof" stat --json -o - -- "$programs/touch" 100 >"$tmp/counts" \
		2>"$tmp/words"
	holds "ordinary user: user mode alone is told by :u" \
		'e["page-faults:u"]["status"] == "ok" and v["page-faults"] >= 100'
	holds "ordinary user: switches are no 0 of user mode" \
		'e["context-switches"]["status"] == "by wait4" and e["cpu-migrations"]["value"] is None'
	holds "ordinary user: and how to get them" \
		'"kernel.perf_event_paranoid=1" in e["cpu-migrations"]["why"]'
else
	skip "as an ordinary user" "not root, or this user cannot get here"
fi
### Habits of perf stat

"$portprof" stat -n -r 3 --table -- sleep 0.05 2>out
same "-n: status" 0 $?
has "-n: the time" 'seconds time elapsed' out
has_not "-n: and no event" 'clock' out
same "--table: each run" 3 "$(grep -c '^ *0[.][0-9]* ([+-]' out)"
"$portprof" stat --table -- true 2>out
same "--table of one run: status" 125 $?
started=$(date +%s)
"$portprof" stat --timeout 200 -- sleep 600 2>out
same "--timeout ends the command" 143 $?
check "in time" [ $(($(date +%s) - started)) -lt 300 ]
has "and what was counted is printed" 'seconds time elapsed' out
"$portprof" stat -d -- true 2>out
has "-d: kinds of faults" 'minor-faults' out
if "$portprof" stat -a -e cpu-clock --timeout 50 >out 2>words &&
	! grep -q 'refused\|not supported' out; then
	"$portprof" stat -a -A -e cpu-clock --timeout 50 >out 2>words
	same "-A: a row for each CPU" "$(getconf _NPROCESSORS_ONLN)" \
		"$(grep -c '^CPU[0-9]* .* cpu-clock' out)"
	# a chroot may have no /sys
	if unshare -m mount -t tmpfs none /sys 2>words; then
		# shellcheck disable=SC2016
		unshare -m sh -c 'mount -t tmpfs none /sys && exec "$@"' sh \
			"$portprof" stat -a -A -e cpu-clock --timeout 50 >out 2>words
		same "-A without /sys: a row for each CPU" \
			"$(getconf _NPROCESSORS_ONLN)" \
			"$(grep -c '^CPU[0-9]* .* cpu-clock' out)"
	else
		skip "-A without /sys" "no file system may be mounted here"
	fi
	"$portprof" stat -a -A -e cpu-clock --timeout 50 -j >out 2>words
	check "-A: programs get the CPU" python3 -c '
import json
events = json.load(open("out"))["events"]
assert len({e["cpu"] for e in events}) == len(events) > 0'
	"$portprof" stat -a --per-core -e cpu-clock --timeout 50 >out 2>words
	has "--per-core: sockets and cores" '^(S[0-9]+-C|CPU)[0-9]+ .* cpu-clock' out
	"$portprof" stat -a -A -x , -e cpu-clock --timeout 50 >out 2>words
	has "-A -x: the CPU is the first field" '^CPU0,[0-9.]+,msec,cpu-clock' out
fi
"$burn" 600000 1 &
target=$!
if "$portprof" stat --per-thread -p $target -e task-clock --timeout 1000 >out 2>words; then
	has "--per-thread: its name and number" "^[^ ]*-$target .* task-clock" out
fi
kill $target
"$portprof" stat -A -- true 2>out
same "-A of a command: status" 125 $?
# what has no hardware says so, unless events were named
"$portprof" stat -- true 2>out
if ! grep -q ' cycles' out; then
	has "no hardware counters: a line" 'no hardware counters here' out
	"$portprof" stat -e page-faults -- true 2>out
	has_not "not where events are named" 'hardware' out
fi
# a clock counts both modes, whatever is asked
"$portprof" stat -b perf -e page-faults,task-clock:u -- true 2>out
if grep -q 'page-faults$\|page-faults ' out; then
	has_not "task-clock:u is no number" '[0-9] ms  task-clock:u' out
fi

### Against an earlier run

"$portprof" stat -j -r 3 -o base.json -- "$burn" 40
"$portprof" stat -r 3 --compare base.json --fail-above 20% -- "$burn" 200 2>out
same "--fail-above: twice the time and more: status" 3 $?
has "what grew" 'task-clock grew by [0-9.]+ %, more than 20 %' out
has "and by how much" '[0-9.]+ %  task-clock' out
"$portprof" stat -r 3 --compare base.json --fail-above 300% -- "$burn" 40 2>out
same "--fail-above: the same again: status" 0 $?
"$portprof" stat -j --compare base.json --fail-above 20 -o new.json -- "$burn" 200 \
	2>words
check "programs get it, too" python3 -c '
import json
compared = json.load(open("new.json"))["compared"]
assert compared["failed"]
clock = [c for c in compared["changes"] if c["name"] == "task-clock"][0]
assert clock["failed"] and clock["after"] > 2 * clock["before"]'
python3 - <<'EOF'
import json
base = json.load(open("base.json"))
for event in base["events"]:
    if event["event"].startswith("page-faults"):
        event["value"] = 0
json.dump(base, open("none.json", "w"))
EOF
"$portprof" stat --compare none.json -- "$burn" 10 2>out
has "of nothing there is no percent" '^ +none before  page-faults' out
has_not "and no number that is none" 'inf' out
"$portprof" stat --compare gone.json -- touch made 2>out
same "--compare: no such file: status" 125 $?
check "and nothing was run" [ ! -e made ]
"$portprof" stat --fail-above 5% -- true 2>out
same "--fail-above of nothing: status" 125 $?
# what cannot be judged does not pass
"$portprof" stat --compare base.json --fail-above 900% -e page-faults,minor-faults \
	-- true 2>out
same "--fail-above: no earlier count: status" 125 $?
has "of what" "minor-faults: 'base.json' has no count of it" out
"$portprof" stat -b rusage -j -o base.json -e task-clock,minor-faults -- true
"$portprof" stat -b rusage --compare base.json --fail-above 900000% \
	-e task-clock,cgroup-switches -- true 2>out
same "--fail-above: not counted: status" 125 $?
has "what was not" 'cannot judge cgroup-switches: it was not counted' out
"$portprof" stat -b rusage --compare base.json -e task-clock,cgroup-switches -- true 2>out
same "without --fail-above a refusal fails nothing" 0 $?
"$portprof" stat -b rusage --compare base.json --fail-above 900% \
	-e cgroup-switches,task-clock -- sh -c 'exit 5' 2>out
same "and the command's own status comes first" 5 $?
tap_end
