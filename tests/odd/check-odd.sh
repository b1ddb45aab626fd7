#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs with odd habits do under record what they do without it: they print
# the same, end the same way and do end.
#
# make check runs the habits that a profiler is most likely to disturb, where it
# is inside the program; check-all runs all of them on each backend.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
odd=$builddir/tests/odd/odd
if is_sanitized; then
	echo "skip: a sanitizer's library must come first, before what is preloaded"
	exit 77
fi
ODD_FOLDER=$tmp/odd
export ODD_FOLDER

# run NAME COMMAND...: in a folder of its own, until all that it started has
# ended, too; what that printed and how it ended itself is $tmp/NAME, what it
# said else is $tmp/NAME.words
run() {
	run_name=$1
	shift
	rm -rf "$ODD_FOLDER"
	mkdir -m 777 "$ODD_FOLDER"
	{
		echo hello | timeout -s KILL 100 "$@" 2>"$tmp/$run_name.words"
		echo "status $?" >"$tmp/status"
	} | cat >"$tmp/$run_name"
	cat "$tmp/status" >>"$tmp/$run_name"
}

# try HABIT BACKEND
try() {
	run recorded "$portprof" record -q -F 1000 -b "$2" \
		-o "$tmp/odd.pb.gz" -- "$odd" "$1"
	if cmp -s "$tmp/native" "$tmp/recorded"; then
		ok "$2: $1"
		return
	fi
	not_ok "$2: $1"
	diff "$tmp/native" "$tmp/recorded" | sed 's/^/# /'
	sed 's/^/# > /' "$tmp/recorded.words" | head -n 10
}

backends=
for backend in $(by_speed "timer itimer" "perf timer itimer" "perf timer itimer"); do
	if can_use "$backend"; then
		backends="$backends $backend"
	else
		skip "$backend" "it cannot be used here: $(head -n 1 "$tmp/words")"
	fi
done
some="has_profiling_timer has_timers_of_its_own waits_for_rare_signals
	handles_all_signals blocks_all_and_forks mixes_old_calls
	calls_the_kernel queues_values dies_of_realtime_signal vforks
	forks_in_the_kernel sandboxes_itself leaves_the_first_thread
	forks_while_handlers_change lives_in_64_mebibytes unshares
	unshares_processes drops_rights_of_a_thread"
all=$("$odd")
times=$(by_speed 1 1 20)
while [ "$times" -gt 0 ]; do
	for habit in ${ODD_HABITS:-$(by_speed "$some" "$all" "$all")}; do
		run native "$odd" "$habit"
		for backend in $backends; do
			try "$habit" "$backend"
		done
	done
	times=$((times - 1))
done
tap_end
