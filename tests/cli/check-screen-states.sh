#!/bin/sh
# SPDX-License-Identifier: MIT
# What threads did, on the screen: browse shows profiles of known numbers, top a
# program that waits.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
grep -q '#define HAVE_CURSES 1' "$builddir/config.h" || {
	echo "skip: no curses"
	exit 77
}
need_command python3
. "$srcdir/tests/cli/tmux.sh"
for kind in wall idle cpu evil woken; do
	python3 "$srcdir/tests/cli/wall_profile.py" "$kind" "$kind.pb.gz" || exit 99
done

### All states as one, and a column for each

begin 110 24
type_keys "run $portprof browse wall.pb.gz 2>&1" Enter
await "all states are shown first, and each one's sum" \
	'^wall-time: 0[.]130 s running, 0[.]020 s ready, 5[.]950 s blocked$'
await "a function that ran and was ready" \
	'^ +2[.]5 % +2[.]1 % +0[.]3 % +0[.]0 % .* work$'
await "one that was blocked" \
	'^ +67[.]5 % +0[.]0 % +0[.]0 % +67[.]5 % .* pthread_mutex_lock$'
type_keys t
await "t: states of a thread" \
	'^ +32[.]0 % +2[.]1 % +0[.]3 % +29[.]5 % server/100 of process 100$'
type_keys P
await "P: of a process" '^ +100[.]0 % +2[.]1 % +0[.]3 % +97[.]5 % .*/100$'
type_keys f Down Enter
await "callers have states, too" \
	'^ +26[.]2 % +0[.]0 % +0[.]0 % +26[.]2 % .* pause_a_bit$'
type_keys Escape T '*'
await "the tree is of all of them" '100[.]0 %|67[.]5 % .*start_thread'

### One state

type_keys f e
await "e: running alone" '^task-clock by perf'
await "is all of what ran" '^ +100[.]0 % .* work$'
type_keys e
await "e: ready" '^ready-time by perf'
type_keys e
await "e: blocked" '^blocked-time by perf'
await "shares are of it" '^ +26[.]9 % .* nanosleep$'
type_keys e
await "e: all again" '^wall-time: '

### By what was waited for

type_keys l
await "l: what waits are told by is no label" 'label but those of waits'
type_keys w
await "w: a lock, and which" '^ +63[.]9 % .* 63[.]9 % lock on futex 0x7f01$'
await "a file" '^ +3[.]3 % .* disk on /var/log/server$'
await "and who did not wait" '^ +2[.]1 % +2[.]1 % +0[.]0 % +0[.]0 % running$'
type_keys Enter
await "Enter: that wait alone" '^lock on futex 0x7f01 alone [(]Esc: all[)]$'
await "is all that is shown" '^ +0[.]0 % .* 100[.]0 % .* append_log$'
shown
has_not "without other locks" 'commit' shown
type_keys t
await "and who waited so" '^ +100[.]0 % .* worker/101 of process 100$'
type_keys Escape
await "Esc: everybody" 'flusher/102 of process 100$'
type_keys w / disk Enter
await "/: kinds and objects have names" "names that contain 'disk'"
shown
has_not "others are not shown" 'sleep' shown
type_keys '?'
await "?: the keys" 'by what threads waited for'
type_keys x q
await "left as it was" 'left as it was'
end

### By who held it, and who ended the wait

begin 110 24
type_keys "run $portprof browse woken.pb.gz 2>&1" Enter
await "waits of which it is known" '^wall-time: '
type_keys w
await "w: by what they were for" '^ +70[.]6 % .* lock on futex 0x7f01$'
type_keys w
await "w, again: by who held it" 'WAITED FOR, HELD BY$'
await "in the only function it was seen in" \
	'^ +100[.]0 % .* flush_log in thread flusher [(]102[)]$'
type_keys w
await "w, again: by who ended them" 'WAITED, WOKEN BY$'
await "of two functions none" '^ +70[.]6 % .* 70[.]6 % thread flusher [(]102[)]$'
await "an interrupt" '^ +17[.]6 % .* [(]interrupt[)]$'
await "nobody" '^ +11[.]8 % .* [(]nobody is known[)]$'
type_keys Enter
await "Enter: its waits alone" 'label waker=thread flusher [(]102[)]'
await "are all that is shown" '^ +100[.]0 % .* pthread_mutex_lock$'
type_keys Escape w w w w
await "w, again: by what they were for" '^ +70[.]6 % .* lock on futex 0x7f01$'
type_keys q
await "who: left as it was" 'left as it was'
end

### Idle waits

begin 110 24
type_keys "run $portprof browse idle.pb.gz 2>&1" Enter
await "idle waits are one sum" '^wall-time: .* 13[.]950 s blocked; 8[.]000 s of it idle$'
await "they are in no share" '^ +67[.]5 % .* pthread_mutex_lock$'
shown
has_not "and in no row" 'pthread_cond_wait' shown
type_keys i
await "i: shows them" '^ +56[.]7 % .* 56[.]7 % .* pthread_cond_wait$'
type_keys i
await "i: hides them" '^ +67[.]5 % .* pthread_mutex_lock$'
type_keys q
await "idle: left as it was" 'left as it was'
end

### Narrow; without waits; one event that was asked for; names that mean harm

for width in 40 60 80; do
	begin $width 24
	type_keys "run $portprof browse wall.pb.gz 2>&1" Enter
	await "$width columns: names" '67[.]5 %.* pthread_mutex_lock$'
	shown
	same "$width columns are kept" 0 \
		"$(awk -v width=$width 'length > width' shown | wc -l)"
	type_keys q
	end
done
begin 80 24
type_keys "run $portprof browse cpu.pb.gz 2>&1" Enter
await "CPU time alone: the event" '^task-clock by perf'
type_keys w
await "w: how to record waits" 'record --wall'
type_keys q
await "cpu: left as it was" 'left as it was'
type_keys "run $portprof browse -e blocked-time wall.pb.gz 2>&1" Enter
await "-e: that event first" '^blocked-time by perf'
type_keys q
end
begin 110 24
type_keys "run $portprof browse evil.pb.gz 2>&1" Enter
await "names that mean harm: there" '^wall-time: '
type_keys w
await "names that mean harm: shown as they are" 'di"sk'
type_keys q
await "names that mean harm: left as it was" 'left as it was'
end

### While it is recorded

backend=perf
can_use perf || backend=timer
can_use $backend || backend=itimer
if ! can_use $backend || [ ! -r /proc/self/schedstat ] ||
	[ ! -r /proc/1/stat ]; then
	skip "top --wall" "nothing can be recorded here, or not how threads waited"
	tap_end
fi
begin 110 24
type_keys "run $portprof top --wall -b $backend -- sleep 600 2>&1" Enter
await "top --wall: what it waits for, meanwhile" \
	'^wall-time: .* running, .* ready, [0-9.]+ s blocked'
type_keys w
await "it sleeps" '^.* (9[0-9]|100)[.][0-9] % sleep$'
type_keys t
await "it is blocked" '^.* (9[0-9]|100)[.][0-9] % sleep/[0-9]+ of process'
type_keys q
await "top: left as it was" 'left as it was'
end
tap_end
