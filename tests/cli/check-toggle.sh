#!/bin/sh
# SPDX-License-Identifier: MIT
# A signal that the user names starts and stops the profile: PORTPROF_SIGNAL,
# and gperftools' CPUPROFILESIGNAL.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
if is_sanitized; then
	echo "skip: a sanitizer's library must come first, before what is preloaded"
	exit 77
fi
need_command python3
object=$builddir/.libs/libportprof-preload.so
[ -f "$object" ] || { echo "skip: no preloaded object was built"; exit 77; }
usr2=$(python3 -c "import signal; print(int(signal.SIGUSR2))")

# toggled VARIABLE=VALUE... -- ARGUMENT...
toggled() {
	toggled_with=
	while [ "$1" != -- ]; do
		toggled_with="$toggled_with $1"
		shift
	done
	shift
	# shellcheck disable=SC2086
	env $toggled_with LD_PRELOAD="$object" "$programs/toggled" "$@" \
		>"$tmp/printed" 2>"$tmp/words"
	status=$?
}

# two_files WORDS FILE: the first session has the first work, the second the
# second, neither has what was before, and both are whole
two_files() {
	same "$1: status" 0 "$status"
	same "$1: nothing is said" "" "$(cat "$tmp/words")"
	same "$1: one file a session" 2 "$(echo "$2".[01] | wc -w | tr -d ' ')"
	claim "$1: the first file has the first work, and no other" \
		"f('work_first') > 100 * ms and f('work_before') == 0 and f('work_second') == 0"
	claim "$1: the first file is whole" "r['complete']"
	judge "$2.0"
	claim "$1: the second file has the second work, and no other" \
		"f('work_second') > 100 * ms and f('work_before') == 0 and f('work_first') == 0"
	claim "$1: the second file is whole" "r['complete']"
	judge "$2.1"
}

for backend in perf timer itimer; do
	if ! can_use $backend; then
		skip "$backend" "$(tail -n 1 "$tmp/words" | tr '#' ' ')"
		continue
	fi
	toggled PORTPROF_SIGNAL=USR2 \
		"PORTPROF=backend=$backend;frequency=1000;output=$backend" -- \
		"$usr2" $backend
	two_files "$backend" $backend
done

toggled PORTPROF_SIGNAL="$usr2" -- "$usr2" portprof.pb.gz
two_files "PORTPROF_SIGNAL alone" portprof.pb.gz
toggled CPUPROFILE=gper.prof CPUPROFILESIGNAL="$usr2" -- "$usr2" gper.prof
two_files "CPUPROFILESIGNAL" gper.prof
CPUPROFILESIGNAL="$usr2" LD_PRELOAD=$object "$burn" 1 2>"$tmp/words"
same "CPUPROFILESIGNAL without CPUPROFILE: as gperftools, nothing" "" \
	"$(cat "$tmp/words")"
rt=$(python3 -c 'import signal; print(signal.SIGRTMIN + 3)')
toggled PORTPROF_SIGNAL=sigrtmin+3 'PORTPROF=output=rt%%' -- "$rt" 'rt%'
two_files "a real-time signal" 'rt%'

for how in default blocked; do
	toggled PORTPROF_SIGNAL=SIGUSR2 PORTPROF=output=$how -- "$usr2" $how $how
	two_files "$how" $how
done

toggled PORTPROF_SIGNAL=SIGUSR2 PORTPROF=output=fork -- "$usr2" fork fork
two_files "fork, parent" fork
child=$(echo fork.[0-9]*.0)
check "fork: the child has files of its own" [ -s "$child" ]
two_files "fork, child" "${child%.0}"

if unshare -U true 2>/dev/null; then
	toggled PORTPROF_SIGNAL=SIGUSR2 PORTPROF=output=alone -- "$usr2" alone alone
	two_files "a program that must be of one thread" alone
else
	skip "a program that must be of one thread" "no user namespaces here"
fi

toggled PORTPROF_SIGNAL=SIGUSR2 PORTPROF=output=own -- "$usr2" own handler
has "the program wants the signal: its handler is called" 'caught 1' \
	"$tmp/printed"
claim "the program wants the signal: what runs continues to the end" \
	"r['complete'] and f('work_first') > 100 * ms"
judge own.0

### What is refused, before anything has changed

for name in FOO 0 65 RTMIN+99 KILL STOP SEGV CHLD PROF; do
	PORTPROF_SIGNAL=$name PORTPROF=output=bad LD_PRELOAD=$object \
		"$burn" 1 >"$tmp/printed" 2>"$tmp/words"
	same "$name: the program runs as if nothing were" 0 $?
	has "$name: words" \
		"this process is not profiled: PORTPROF_SIGNAL: .*'$(echo "$name" | tr + .)'.*RTMIN.3" \
		"$tmp/words"
done
PORTPROF_SIGNAL=USR2 PORTPROF='output=bad;frequency=many' LD_PRELOAD=$object \
	"$burn" 1 2>"$tmp/words"
has "settings are refused before any signal comes" "frequency 'many'" \
	"$tmp/words"
cat >own.c <<'END'
#include <signal.h>
static void caught(int number) { (void)number; }
__attribute__((constructor(101))) static void load(void) { signal(SIGUSR2, caught); }
END
if ${CC:-cc} -shared -fPIC -o own.so own.c 2>/dev/null; then
	PORTPROF_SIGNAL=USR2 PORTPROF='output=bad' LD_PRELOAD="$object $tmp/own.so" \
		"$burn" 1 2>"$tmp/words"
	has "a handler is there already" "'USR2' .*handler" "$tmp/words"
else
	skip "a handler is there already" "no compiler here"
fi
same "what is refused leaves no file" "bad*" "$(echo bad*)"
tap_end
