#!/bin/sh
# SPDX-License-Identifier: MIT
# What is refused, or finds nothing: which status, what it is about and what
# helps, in two lines. Each was wrong once.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
out=$tmp/p.pb.gz
deny=$programs/deny

# ran STATUS WORDS FIRST SECOND COMMAND...: two lines at most, one of which
# matches FIRST, one SECOND ("": none)
ran() {
	ran_status=$1 ran_words=$2 ran_first=$3 ran_second=$4
	shift 4
	"$@" >"$tmp/printed" 2>"$tmp/words"
	status=$?
	if [ "$status" -eq 77 ] && grep -q '^skip' "$tmp/words"; then
		skip "$ran_words" "no system call filter here"
		return
	fi
	same "$ran_words: status" "$ran_status" "$status"
	has "$ran_words: why" "$ran_first" "$tmp/words"
	[ -z "$ran_second" ] ||
		has "$ran_words: what to do" "$ran_second" "$tmp/words"
	check "$ran_words: in two lines" \
		[ "$(grep -c '^portprof: ' "$tmp/words")" -le 2 ]
}

# said WORDS PATTERN: the last words, beside where the file is
said() {
	has "$1" "$2" "$tmp/words"
}

### Lists and groups, everywhere alike

printf 'event = {cpu-clock,task-clock}:freq=100\n' >lists.conf
for list in '{cpu-clock,task-clock}:freq=100' 'cpu-clock,task-clock' \
	'cpu-clock,{task-clock}:freq=50'; do
	"$portprof" record -b perf -e "$list" -o "$out" -- "$burn" 20 1 \
		2>"$tmp/words"
	status=$?
	if [ "$status" -ne 0 ] && can_use perf; then
		not_ok "record -e $list"
		sed 's/^/# /' "$tmp/words"
	elif [ "$status" -ne 0 ]; then
		skip "record -e $list" "no perf here"
	else
		ok "record -e $list"
	fi
done
ran 125 "a group of a configuration file without perf" 'perf' '' \
	"$deny" EPERM "$portprof" record --config lists.conf -o "$out" -- true
ran 125 "a group with a mistake" 'column 20 of the list' '' "$portprof" record \
	-e 'cs,{cpu-clock:freq=-5}:u' -o "$out" -- true
ran 125 "the same for stat" 'column 20 of the list' '' "$portprof" stat \
	-e 'cs,{cpu-clock:freq=-5}:u' -- true
if can_use perf; then
	ran 125 "pinned behind another" 'column 11.*pinned' 'first|braces' \
		"$portprof" stat -e '{cs,cpu-clock:pinned}' -- true
fi

### A name first, then rights, then what a backend can

for error in EPERM ENOSYS LOCKED; do
	ran 125 "a mistyped name, $error" 'cpu-clokc' 'cpu-clock' \
		"$deny" "$error" "$portprof" record -e cpu-clokc -o "$out" \
		-- true
done
ran 125 "a mistyped name, by a named backend" 'cpu-clokc' 'cpu-clock' \
	"$portprof" record -b timer -e cpu-clokc -o "$out" -- true
has_not "other systems have no say" 'operating system' "$tmp/words"
if can_use timer; then
	"$deny" EPERM "$portprof" record -g -o "$out" -- "$burn" 40 \
		>"$tmp/printed" 2>"$tmp/words"
	case $(uname -m) in
	x86_64 | aarch64)
		same "call chains behind a filter: by timers" 0 $?
		has "call chains behind a filter: who" 'by timer|timer samples' "$tmp/words"
		;;
	*) same "call chains behind a filter: refused" 125 $? ;;
	esac
fi
ran 125 "everything forbidden" 'seccomp|perf_event_open' 'doctor' \
	"$deny" TIMERS "$portprof" record -o "$out" -- "$burn" 20 1
ran 125 "everything forbidden, itimer" 'setitimer' 'doctor' \
	"$deny" TIMERS "$portprof" record -b itimer -o "$out" -- "$burn" 20 1
check "no profile that is empty" [ ! -e "$out.x" ]
if can_use timer; then
	record -b timer -F 500 -e perf::PERF_COUNT_SW_TASK_CLOCK -o "$out" -- \
		"$burn" 60 1
	same "a long name of libpfm4 by timers" 0 "$status"
fi

### Events that this machine cannot measure

sys=/sys/bus/event_source/devices
if can_use perf && [ "$(id -u)" -eq 0 ]; then
	if "$portprof" stat -a -e msr::tsc -- true 2>/dev/null; then
		ran 125 "levels of a PMU that has none" "column 10.*'u'" \
			'drop' "$portprof" stat -e msr::tsc:u -- true
	fi
	[ ! -d $sys/uprobe ] ||
		ran 125 "a probe by number" 'uprobe' 'uprobe:FILE:SYMBOL' \
			"$portprof" stat -e uprobe::raw:config1=4096 -- true
	[ ! -d $sys/breakpoint ] ||
		ran 125 "a breakpoint by number" 'breakpoint' 'mem:' \
			"$portprof" stat -e breakpoint::raw -- true
	ran 125 "guests of what the kernel counts" "column 13.*'mg'" 'drop' \
		"$portprof" stat -e page-faults:mg -- true
fi
if can_use perf; then
	ran 125 "a breakpoint on 3 bytes" 'mem:0x1000/3.*column 5' \
		'1, 2, 4 or 8' "$portprof" stat -e mem:0x1000/3:w -- true
	has_not "a breakpoint: no tracefs" 'tracefs' "$tmp/words"
	ran 125 "a level to drop" 'column 11' 'drop' "$portprof" record \
		-e cpu-clock:h -o "$out" -- true
	same "a level to drop: no more" 1 "$(wc -l <"$tmp/words")"
fi
if can_use perf && ! "$portprof" stat -e cycles -- true 2>/dev/null; then
	echo 'require = hardware' >hardware.conf
	ran 125 "hardware that is not there" 'hardware' 'pmu=on|no PMU|table' \
		"$portprof" record --config hardware.conf -o "$out" -- true
	has_not "hardware that is not there: no advice about -b" 'without -b' \
		"$tmp/words"
	# not why a backend that has one event alone cannot take them
	ran 125 "several events that are not there" "'cycles' cannot" 'cpu-clock' \
		"$portprof" record -e cycles,instructions -o "$out" -- true
	has_not "several events: nothing of memory" 'share' "$tmp/words"
fi
ran 1 "a list of nothing" 'solaris' 'operating system|catalogue' \
	"$portprof" list -b solaris

### Whom, and for how long

ran 125 "no such process" 'no process' '' "$portprof" record -p 99999999 \
	-o "$out"
ran 125 "a duration of nothing" "'0' is not" '0\.3' "$portprof" stat \
	--duration 0 -p $$
ran 125 "a duration of no number" "'1.x' is not" '0\.3' "$portprof" stat \
	--duration 1.x -p $$
if can_use perf; then
	"$portprof" stat --duration 0.05 -p $$ 2>"$tmp/words" >/dev/null
	same "a part of a second" 0 $?
fi

# A /proc of our own, where we may mount one.
sleep 60 &
victim=$!
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null &&
	unshare -m mount -t tmpfs none /proc 2>/dev/null; then
	for verb in "record -o $out" stat; do
		# shellcheck disable=SC2086
		ran 125 "no /proc: ${verb%% *} -p" "$victim runs" 'mount -t proc' \
			unshare -m sh -c 'mount -t tmpfs none /proc; "$@"' - \
			"$portprof" $verb -p $victim
	done
	if can_use perf; then
		ran 0 "no /proc: a command is measured all the same" \
			'samples' 'report' unshare -m sh -c \
			'mount -t tmpfs none /proc; "$@"' - "$portprof" \
			record -b perf -F 500 -o "$out" -- "$burn" 60 1
	fi
else
	skip "no /proc" "cannot mount here"
fi
if [ "$(id -u)" -eq 0 ] && become_ordinary && command -v setpriv >/dev/null &&
	unshare -m mount -t proc -o hidepid=invisible proc /proc \
		2>/dev/null; then
	for verb in "record -o $out" stat; do
		# shellcheck disable=SC2016,SC2086
		ran 125 "hidden by /proc: ${verb%% *} -p" "$victim runs.*hidepid" \
			'remount' unshare -m sh -c 'mount -t proc \
			-o hidepid=invisible proc /proc && exec setpriv \
			--reuid=65534 --regid=65534 --clear-groups \
			--inh-caps=-all "$@"' - "$portprof" $verb -p $victim
	done
else
	skip "hidden by /proc" "cannot mount it so here"
fi
if can_use perf && become_ordinary; then
	for verb in "record -o nobody.pb.gz" stat; do
		name=${verb%% *}
		# shellcheck disable=SC2086
		{
			ran 125 "$name: a CPU that is not there" '4095' \
				'cpu/online' ordinary "$portprof" $verb \
				-C 4095 -- true
			ran 125 "$name: a cgroup that is not there" \
				"no cgroup 'no-such'" '/proc/PID/cgroup' \
				ordinary "$portprof" $verb -G no-such -- true
		}
		if ! ordinary "$portprof" stat -a -e cpu-clock -- true \
			2>/dev/null; then
			# shellcheck disable=SC2086
			ran 125 "$name: the whole system" 'system|mode' \
				'paranoid|PERFMON|administrator' ordinary \
				"$portprof" $verb -a -- true
		fi
		if [ "$(id -u)" -eq 0 ] && ! ordinary kill -0 $victim \
			2>/dev/null && [ "$(cat /proc/sys/kernel/perf_event_paranoid \
			2>/dev/null)" -ge 0 ]; then
			# shellcheck disable=SC2086
			ran 125 "$name: somebody else's process" \
				"$victim .*(another|hides)" 'administrator' \
				ordinary "$portprof" $verb -p $victim
		fi
	done
fi
kill $victim

### Nothing was sampled

if can_use perf; then
	"$portprof" record -b perf -o "$out" -- sleep 0.4 2>"$tmp/words"
	if grep -q 'no sample' "$tmp/words"; then
		said "after a sleep: where it went" 'slept.*record --wall'
		has_not "after a sleep: no higher rate" '-F' "$tmp/words"
	fi
	"$portprof" record -b perf -e major-faults@1000000 -o "$out" -- true \
		2>"$tmp/words"
	said "no event: how many there were" 'no sample: [0-9]+ events'
	has_not "no event: no CPU time of 0" '0\.000 ms' "$tmp/words"
	# the session's strings are gone by then
	MALLOC_PERTURB_=165 "$portprof" record -b perf \
		-e major-faults@1000000 -o "$out" -- true 2>"$tmp/words"
	said "no event: which" 'events of major-faults'
fi
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	mkdir -m 777 rights
	cp "$burn" rights/burn
	chmod 4755 rights/burn
	ordinary "$portprof" record -o rights/p.pb.gz -- rights/burn 60 1 \
		2>"$tmp/words"
	if grep -Eq 'no sample|nothing was recorded' "$tmp/words"; then
		said "a set-user-id program: why" 'set-user-id'
		has_not "a set-user-id program: no other backend" \
			'another backend' "$tmp/words"
	else
		skip "a set-user-id program" "it has no other rights here"
	fi
	cp "$burn" rights/hidden
	chmod 111 rights/hidden
	ordinary "$portprof" record -b perf -o rights/p.pb.gz -- \
		rights/hidden 200 1 2>"$tmp/words"
	if grep -q 'no sample' "$tmp/words"; then
		said "a program that cannot be read: why" 'hidden.*not readable'
		said "a program that cannot be read: what to do" '-b timer'
	else
		skip "a program that cannot be read" "perf samples it here"
	fi
	if ordinary "$portprof" stat -e task-clock -- rights/burn 60 1 \
		2>"$tmp/words" && grep -q 'lost its counter' "$tmp/words"; then
		said "a set-user-id program is counted: why not" 'set-user-id'
		said "a set-user-id program is counted: what to do" \
			'administrator'
	elif ! grep -Eq '^ +[0-9.,]+ m?s +task-clock' "$tmp/words"; then
		not_ok "a set-user-id program is counted"
	else
		counted=$(awk '/task-clock/ { print int($1) }' "$tmp/words")
		check "a set-user-id program is counted: all of it" \
			[ "$counted" -ge 30 ]
	fi
fi

### Reports

# The twelfth field of pprof's Profile is its period.
cat >period.py <<'END'
import gzip, sys
data = gzip.open(sys.argv[1]).read()
at, period = 0, 0
def varint():
    global at
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value
while at < len(data):
    tag = varint()
    if tag & 7 == 0:
        value = varint()
        period = value if tag >> 3 == 12 else period
    elif tag & 7 == 2:
        length = varint()
        at += length
    else:
        at += 8 if tag & 7 == 1 else 4
print(period)
END
if can_use timer && command -v python3 >/dev/null; then
	"$portprof" record -q -b timer -F 100000 -o "$out" -- "$burn" 200 1
	"$portprof" report -j -i "$out" >json 2>"$tmp/words"
	same "pprof's period is the one granted" "$(python3 -c 'import json
print(json.load(open("json"))["rate"]["granted_period"])')" \
		"$(python3 period.py "$out")"
	python3 -c 'import json, sys
r = json.load(open("json"))["rate"]
sys.exit(r["achieved"] < r["granted"] * 1.02)'
	more=$?
	report -i "$out"
	if [ $more -eq 0 ]; then
		has "more samples than granted: why" 'more than granted: ' \
			"$tmp/report"
	else
		has_not "as many samples as granted" 'more than granted: ' \
			"$tmp/report"
	fi
fi

# The program takes the timer for itself, and works on for long. python3 may be
# a script that starts many others before.
python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null)
if can_use itimer && [ -x "$python" ]; then
	"$portprof" record -b itimer -F 100 -o "$out" -- "$python" -c '
import signal, time
signal.signal(signal.SIGPROF, signal.SIG_IGN)
signal.setitimer(signal.ITIMER_PROF, 0)
end = time.process_time() + 0.6
while time.process_time() < end:
    pass' 2>"$tmp/words"
	report -i "$out"
	has_not "a timer that was taken away: no higher rate" 'higher rate' \
		"$tmp/report"
fi
tap_end
