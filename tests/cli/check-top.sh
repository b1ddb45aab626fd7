#!/bin/sh
# SPDX-License-Identifier: MIT
# portprof top in a real terminal: what it shows, its keys, two sizes, and that it
# leaves the terminal as it was on every way out.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"

"$portprof" top --help >help
has "help says what it is" 'Shows on the terminal what is hot now' help
"$portprof" top --nonsense 2>words
has "a wrong option is one of top" 'portprof top --help' words

if ! grep -q '#define HAVE_CURSES 1' "$builddir/config.h"; then
	"$portprof" top -- true 2>words
	same "without curses: status" 125 $?
	has "without curses: how to get it" 'libncurses-dev' words
	tap_end
fi
command -v setsid >/dev/null && {
	setsid -w "$portprof" top -- true 2>words
	same "no terminal: status" 125 $?
	has "no terminal: what to do" 'portprof record' words
}
. "$srcdir/tests/cli/tmux.sh"

backend=perf
can_use perf || backend=timer
can_use $backend || backend=itimer
if ! can_use $backend; then
	skip "the screen" "no backend can be used here"
	tap_end
fi

# its folder, so that nothing of ours is met
TMPDIR=$tmp/folder
mkdir "$TMPDIR"
export TMPDIR

### A command, 80x24

begin 80 24
type_keys "run $portprof top -F 200 -b $backend -- $burn 600000 2>&1" Enter
await "the title is the command" '^portprof top: .*burn'
await "the hot function" '%.* burn +burn_'
await "the account" '[0-9] lost, (0 [+]- )?[0-9.]+ % unattributed'
await "time passes" 'last [0-9]+s'
shown
same "80 columns are kept" 0 "$(awk 'length > 80' shown | wc -l)"
same "the keys are on the last line" 24 "$(grep -n '^q end' shown | cut -d: -f1)"
type_keys t
await "t: threads" 'THREAD'
await "t: names and numbers" 'burn/[0-9]+ of process [0-9]+'
type_keys Enter
await "Enter: one thread alone" 'thread [0-9]+ alone'
type_keys Escape
type_keys m
await "m: modules" ' MODULE$|[*]? +MODULE'
type_keys f
await "f: functions" 'FUNCTION'
type_keys Enter
await "Enter without chains says what is missing" 'start top with -g'
type_keys /
type_keys 'nobody has this'
await "the filter is shown" 'contain: nobody has this'
type_keys Enter
# shellcheck disable=SC2317
lacks() {
	! shows "$1"
}
check "the filter filters" wait_for lacks 'burn_'
type_keys Escape
await "Esc takes it away" 'burn +burn_'
type_keys p
await "p: paused" 'paused'
type_keys p
type_keys '?'
await "?: the keys" 'choose a row'
type_keys x
await "any key leaves the help" 'FUNCTION'
type_keys P
await "P: processes" ' PROCESS'
await "P: names and numbers" 'burn/[0-9]+$'
type_keys Enter
await "Enter: one process alone" 'process [0-9]+ alone'
type_keys Escape
await "Esc: everybody" ' last [0-9]+s|so far'
# the clock may be hotter than the program where it is a system call
type_keys /
type_keys burn_
type_keys Enter
await "/: the hottest of them is first" '^ *[*>]? *[0-9.]+ %.*burn +burn_'
type_keys Home
type_keys a
await "a: the hottest function's instructions" '[0-9] % +[0-9a-f]+ +[a-z]{2,}'
await "a: whose" 'burn_(much|little) [(]Esc: back'
type_keys Escape
await "Esc: back to functions" 'burn +burn_'
type_keys Escape
type_keys F3
type_keys little
await "F3: goes to what was searched for" 'search: little_'
type_keys Enter
type_keys F1
await "F1: help" 'choose a row'
type_keys x
type_keys s
await "s: saved" 'saved to portprof.pb.gz'
report
same "what was saved can be read" 0 "$status"
has "and has names" 'burn_' report
screen resize-window -x 200 -y 60
await "a larger terminal is used" '^q end'
wait_for sh -c "tmux -S '$tmp/tmux$terminals' capture-pane -p | sed -n 60p |
	grep -q '^q end'"
shown
same "to its last line" 60 "$(grep -n '^q end' shown | cut -d: -f1)"
screen resize-window -x 30 -y 6
sleep 0.5
screen resize-window -x 80 -y 24
await "a tiny one does no harm" '^q end.*[?] help'
type_keys q
await "q: the terminal is as it was" 'left as it was'
has "q: the command was ended" 'status 143' ended
same "nothing is left behind" "" "$(ls "$TMPDIR")"
end

### A program that is deleted while it runs

cp "$burn" gone
begin 80 24
type_keys "run $portprof top -F 200 -b $backend -- ./gone 600000" Enter
await "a program that will be deleted" 'gone +burn_'
rm gone
type_keys s
await "s after it was deleted" 'saved to portprof.pb.gz'
report
[ "$backend" != perf ] || has "has its names all the same" 'gone +burn_' report
type_keys q
await "and the screen ends" 'left as it was'
end

### Four widths, on a busy machine

for _ in 1 2 3 4 5 6 7 8; do
	"$burn" 600000 &
	busy="${busy:-} $!"
done
for width in 40 60 80 200; do
	begin $width 24
	type_keys "$portprof top -b $backend -- $burn 600000" Enter
	await "$width columns: names" '%.* burn_(much|little)$'
	shown
	same "$width columns are kept" 0 \
		"$(awk -v width=$width 'length > width' shown | wc -l)"
	await "$width columns: the account, to its end" '(^| )unattributed'
	[ $width -ge 80 ] || has "$width columns: names begin where names are" \
		'FUNCTION' shown
	[ $width -lt 80 ] || has "$width columns: modules, too" 'MODULE +FUNCTION' shown
	same "$width columns: no key is cut" "" "$(sed -n 24p shown | tr -s ' ' '\n' |
		grep -vxE 'q|end|[?]|help|p|pause|/|filter|[fTtla]|functions|tree|threads|labels|code|')"
	type_keys F1
	await "$width columns: help" 'choose a row'
	type_keys End
	await "$width columns: to its end" 'above[.]$'
	shown
	type_keys x
	type_keys q
	end
done
# shellcheck disable=SC2086
kill $busy

### With nothing to see the clock goes on

begin 80 24
sleep 600 &
asleep=$!
type_keys "$portprof top -b $backend -p $asleep" Enter
if [ "$backend" = perf ]; then
	await "-p: the title is the process" "top: (process )?$asleep.*sleep 600"
	await "an idle target: the clock goes on" ' 00:00:0[3-9]| 00:00:[1-5]'
fi
type_keys q
end
kill $asleep

### The tree of calls

begin 80 24
type_keys "$portprof top -g -b $backend -- $burn 600000" Enter
await "it runs for a tree" 'burn_much'
type_keys T
await "T: a tree, closed" '[+] (_start|.*main|.*burn)'
type_keys '*'
await "*: open as far as it is hot" '- .*burn$'
await "to the leaves" '  +burn_much|[-+] burn_much'
type_keys Home
type_keys Left
await "Left: closed" '^ .*[+] [^ ]+$'
type_keys q
end

### Labels

labelled=$programs/label_burn
[ ! -x "$programs/.libs/label_burn" ] || labelled=$programs/.libs/label_burn
"$portprof" top --sort line -- true 2>words
same "--sort of what is no table: status" 125 $?
has "--sort: what there is" 'label:NAME' words
"$portprof" top --label 'endpoint=~(' -- true 2>words
same "--label of no expression: status" 125 $?
begin 80 24
type_keys "run $portprof top --sort label:endpoint -b $backend -- \
	$labelled 2 600000 1000" Enter
await "--sort label: its values" '%.* /checkout$'
await "--sort label: which label" 'LABEL endpoint$'
await "and what has none" '%.* [(]none[)]$'
# in turns; the service is one, too
# shellcheck disable=SC2317
turns_to() {
	shows "$1" && return
	type_keys l
	sleep 1
	shows "$1"
}
check "l: the next label" wait_for turns_to 'LABEL tenant$'
await "and its values" '%.* acme$'
check "l: in turns" wait_for turns_to 'LABEL endpoint$'
type_keys / /cart Enter
await "/: one value" "contain: /cart|contain '/cart'"
check "the filter filters labels" wait_for lacks '/checkout$'
type_keys Enter
await "Enter: its functions alone" 'label endpoint=/cart'
type_keys /
type_keys work_
type_keys Enter
await "with what it did" ' work_cart$'
check "and nothing else" wait_for lacks ' work_checkout$'
type_keys Escape
await "Esc: all of them" ' work_checkout$'
type_keys q
await "labels: the terminal" 'left as it was'
end
begin 80 24
type_keys "run $portprof top --label endpoint=/checkout -b $backend -- \
	$labelled 2 600000 1000" Enter
await "--label is shown" 'label endpoint=/checkout [(]Esc: all[)]'
await "--label: its function" ' work_checkout$'
shown
has_not "--label: no other" ' work_(search|cart|nobody)$' shown
type_keys q
end

### Callers; a command that ends by itself

begin 80 24
type_keys "run $portprof top -g -F 200 -b $backend -- sh -c '$burn 400; exit 7'" \
	Enter
await "the end is told, and waited for" 'has ended; q leaves'
# that it has ended is told before the last look is there: rows to choose
await "what it did, to the end" '%.* burn +burn_much'
type_keys Enter
await "Enter: callers" 'callers and callees of'
await "and callees" 'CALLED BY IT'
type_keys Escape
await "Esc: back" 'FUNCTION'
type_keys q
await "an end of its own: the terminal" 'left as it was'
has "the status is the command's" 'status 7' ended
end

### Ctrl-Z, Ctrl-C, and a signal from outside

begin 80 24
type_keys "run $portprof top -F 200 -b $backend -- $burn 600000" Enter
await "it runs" 'burn +burn_'
type_keys C-c
await "Ctrl-C: the terminal" 'left as it was'
has "Ctrl-C ended both" 'status 130' ended
begin 80 24
type_keys "run $portprof top -F 200 -b $backend -o kept.pb.gz -- $burn 600000" \
	Enter
await "it runs again" 'burn +burn_'
type_keys s
await "with -o there is nothing to save" 'is recorded to kept.pb.gz'
kill -TERM "$(cat pid)"
await "SIGTERM: the terminal" 'left as it was'
has "SIGTERM: the status" 'status 143' ended
report -i kept.pb.gz
has "-o: all of it is kept" 'burn_' report
begin 80 24
type_keys "$portprof top -F 200 -b $backend -- $burn 600000" Enter
await "it runs for a stop" 'burn +burn_'
type_keys C-z
await "Ctrl-Z stops it" 'Stopped|Suspended'
await "and gives the terminal back" '^[$]( fg)?$'
type_keys fg Enter
await "fg: it continues" '^q end'
type_keys q
same "nothing is left behind in the end" "" \
	"$(wait_for sh -c "[ -z \"\$(ls '$TMPDIR')\" ]"; ls "$TMPDIR")"
end

### The terminal goes away

# a command that does not care is ended like one that was left with q
begin 80 24
type_keys "run $portprof top -F 200 -b $backend -- \
	sh -c 'trap \"\" HUP; exec $burn 600000'" Enter
await "it runs for a hang-up" 'burn +burn_'
top=$(cat pid)
end
check "hung up: it ends" wait_for sh -c "! kill -0 $top 2>'$tmp/words'"
same "hung up: nothing is left behind" "" "$(ls "$TMPDIR")"

### The whole system

"$portprof" record -q -a -o all.pb.gz -- true 2>words || {
	skip "the system" "this user may not measure it"
	tap_end
}
# ticks for which a CPU had nothing to run or waited for a disk (proc_stat(5))
idle_ticks() {
	awk '$1 == "cpu" { print $5 + $6 }' /proc/stat 2>/dev/null || echo 0
}
# shellcheck disable=SC2317
is_idle_or_busy() {
	shows 'idle [0-9.]+' || {
		shows '% unattributed' && [ "$(idle_ticks)" -le "$((idle_before + 2))" ]
	}
}

begin 80 24
idle_before=$(idle_ticks)
type_keys "run $portprof top" Enter
await "without a target it is the system" 'top: the whole system'
check "idle time is no weight, and is told where there is any" wait_for is_idle_or_busy
type_keys q
await "the system: the terminal" 'left as it was'
has "the system: status" 'status 0' ended
end
tap_end
