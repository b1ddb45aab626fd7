#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs of gperftools' CPU profiler, linked with libportprof-gperftools or started
# with it: each function, each variable, forks, and what is refused. Time in a file
# is held to the CPU time that the program measured itself.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
: "${CC:=cc}"
. "$srcdir/tests/tools/tap.sh"
libs=$(cd "$builddir/.libs" 2>/dev/null && pwd)
if [ "${PP_SANITIZERS:-no}${PP_COVERAGE:-no}" != nono ]; then
	echo "skip: a library built with sanitizers or coverage is not for others"
	exit 77
fi
[ -f "$libs/libportprof-gperftools.so" ] ||
	{ echo "skip: no shared libportprof-gperftools was built"; exit 77; }
LD_LIBRARY_PATH=$libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
unset CPUPROFILE CPUPROFILE_FREQUENCY CPUPROFILESIGNAL CPUPROFILE_USE_PID \
	2>/dev/null || :

user=$tmp/user
# The header must do for C and C++ as strict programs compile them.
for standard in c99 c11; do
	# shellcheck disable=SC2086 # $CC may hold words
	check "the header compiles as $standard" $CC -std=$standard -Wall -Wextra \
		-Wpedantic -Werror -D_GNU_SOURCE -I"$srcdir/compat/gperftools" \
		-I"$srcdir/api" -c "$srcdir/tests/dropin/gperftools_user.c" \
		-o "$tmp/user.o"
done
# shellcheck disable=SC2086
check "a program links -lportprof-gperftools alone" $CC "$tmp/user.o" \
	-L"$libs" -lportprof-gperftools -o "$user"
[ -x "$user" ] || exit 1

# The figure NAME of FILE's first event, in ms.
figure() {
	"$builddir/portprof" report --json "$2" 2>/dev/null |
		sed -n "s/^ \"$1\": \([0-9]*\),$/\1/p" | sed -n '1s/......$//p'
}

# value NAME: what the program printed
value() {
	sed -n "s|^$1=||p" "$tmp/printed"
}

# What other machines on the same processor took from this one, in ms so far: perf
# counts it, and the programs' own clocks do not.
stolen() {
	# shellcheck disable=SC2016 # awk's own
	${AWK:-awk} '$1 == "cpu" { print $9 * 10 }' /proc/stat 2>/dev/null || echo 0
}
stolen_before=$(stolen)

# near WORDS GOT WANTED: within a tenth and three samples of 10 ms, and what was
# stolen since the last time
near() {
	near_room=$((${3:-0} / 10 + 30))
	near_stolen=$(($(stolen) - stolen_before))
	stolen_before=$((stolen_before + near_stolen))
	if [ "${2:--1}" -ge $((${3:-0} - near_room)) ] &&
		[ "${2:--1}" -le $((${3:-0} + near_room + near_stolen)) ]; then
		ok "$1"
	else
		not_ok "$1"
		echo "# ${2:-nothing} ms: not ${3:-?} +- $near_room," \
			"$near_stolen stolen"
	fi
}

### the functions

"$user" calls "$tmp/calls" >"$tmp/printed" 2>"$tmp/words"
same "before: no state" "0 0 0  -1" "$(value before_enabled) $(value before_all) \
$(value before_samples) $(value before_name) $(value before_age)"
same "start succeeds, a second one does not" "1 0" "$(value start) $(value again)"
same "during: the state" "1 1 $tmp/calls" \
	"$(value during_enabled) $(value during_all) $(value during_name)"
check "during: samples were gathered at 100 Hz" \
	test "$(value during_samples)" -ge 20 -a "$(value during_samples)" -le 80
check "during: since a moment ago" test "$(value during_age)" -ge 0 -a \
	"$(value during_age)" -le 60
same "after: no state" "0 0 0  -1" "$(value after_enabled) $(value after_all) \
$(value after_samples) $(value after_name) $(value after_age)"
same "it starts again" 1 "$(value second)"
near "the file has the time between start and stop" \
	"$(figure total_weight "$tmp/calls.old")" "$(value cpu_ms)"
"$builddir/portprof" report -q "$tmp/calls.old" >"$tmp/report" 2>&1
has "the file names the function" ' user +spin_in_user$' "$tmp/report"
near "exit completes the second file, which has its own time alone" \
	"$(figure total_weight "$tmp/calls")" 100
same "nothing is said" "" "$(cat "$tmp/words")"

"$user" fork "$tmp/fork" >"$tmp/printed" 2>"$tmp/words"
same "in a forked child: no state" "0 0 0 " "$(value child_enabled) \
$(value child_all) $(value child_samples) $(value child_name)"
same "a forked child starts its own" 1 "$(value child_start)"
near "it has its time" "$(figure total_weight "$tmp/fork.child")" 300
near "its parent has its own" "$(figure total_weight "$tmp/fork")" 100

"$user" filter "$tmp/filter" >"$tmp/printed" 2>"$tmp/words"
same "a filter is refused" 0 "$(value start)"
has "and it is said why, and what to do" \
	"filter_in_thread is not supported.*report --thread" "$tmp/words"
check "no file is begun" test ! -e "$tmp/filter"

"$user" calls "$tmp/none/calls" >"$tmp/printed" 2>"$tmp/words"
same "a file that cannot be made: 0, and the program goes on" "0 0" \
	"$(value start) $(value after_enabled)"
has "it is said which" "cannot profile into '$tmp/none/calls'" "$tmp/words"

### the variables

CPUPROFILE=$tmp/whole "$user" spin >"$tmp/printed" 2>"$tmp/words"
near "CPUPROFILE: a program that calls nothing" \
	"$(figure total_weight "$tmp/whole")" 300
CPUPROFILE=$tmp/fast CPUPROFILE_FREQUENCY=1000 "$user" spin 2>"$tmp/words"
samples=$("$builddir/portprof" report --json "$tmp/fast" |
	sed -n 's/^ "samples": \([0-9]*\),$/\1/p' | head -n 1)
if "$builddir/portprof" record -q -b perf -o "$tmp/perf" -- true 2>"$tmp/words"; then
	check "CPUPROFILE_FREQUENCY: ten times the samples" \
		test "${samples:-0}" -ge 100
else
	skip "CPUPROFILE_FREQUENCY: ten times the samples" \
		"without perf no more than the kernel's ticks come"
fi
CPUPROFILE=$tmp/run "$user" run "exec '$user' spin" 2>"$tmp/words"
near "a program that runs another: its own file has its own time" \
	"$(figure total_weight "$tmp/run")" 300
set -- "$tmp"/run_*
same "the other has a file of its own" 1 $#
near "with its time" "$(figure total_weight "$1")" 300
CPUPROFILE=$tmp/none/x "$user" spin >"$tmp/printed" 2>"$tmp/words"
same "a bad CPUPROFILE: the program runs" 0 $?
has "and it is said" "cannot profile into '$tmp/none/x'" "$tmp/words"

CPUPROFILE=$tmp/signal CPUPROFILESIGNAL=12 timeout 600 "$user" signal 12 2>"$tmp/words"
check "CPUPROFILESIGNAL: a file each time" \
	test -s "$tmp/signal.0" -a -s "$tmp/signal.1" -a ! -e "$tmp/signal.2" \
	-a ! -e "$tmp/signal"
near "the first time" "$(figure total_weight "$tmp/signal.0")" 200
near "the second time" "$(figure total_weight "$tmp/signal.1")" 200
for number in 9 0 1000 USR2; do
	CPUPROFILE=$tmp/bad CPUPROFILESIGNAL=$number "$user" spin 2>"$tmp/words"
	has "CPUPROFILESIGNAL=$number is refused" "CPUPROFILESIGNAL '$number'" \
		"$tmp/words"
done

### unchanged programs

# LD_PRELOAD stands before gperftools' own library, where there is one.
if printf 'int ProfilerStart(const char *);\nint main(void) { return 0; }\n' \
	>"$tmp/real.c" && $CC "$tmp/user.o" -lprofiler -o "$tmp/real" 2>/dev/null
then
	LD_PRELOAD=$libs/libportprof-gperftools.so "$tmp/real" calls \
		"$tmp/unchanged" >"$tmp/printed" 2>"$tmp/words"
	near "a program linked with libprofiler, preloaded" \
		"$(figure total_weight "$tmp/unchanged.old")" "$(value cpu_ms)"
else
	skip "a program linked with libprofiler, preloaded" "no libprofiler here"
fi
tap_end
