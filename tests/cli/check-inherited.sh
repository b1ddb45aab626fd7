#!/bin/sh
# SPDX-License-Identifier: MIT
# A command that is measured inherits what it would inherit without us, but for
# the table in portprof-record(1).
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"

inherited=$programs/inherited
"$inherited" -- "$inherited" list 2>words ||
	{ echo "skip: $(cat words)"; exit 77; }
check "what a process inherits is unusual" grep -q '^signal 14 ignored' list
check "and its limits can be seen" grep -q '^limit 2 ' list

# same_but WORDS ALLOWED FILE: two lists, but for lines that match
same_but() {
	grep -Ev -e "$2" "$3.without" >a
	grep -Ev -e "$2" "$3.with" >b
	diff a b >differences
	same "$1" "" "$(cat differences)"
}

# without NAME WRAPPER...: the list as it is without us
without() {
	lists=$1
	shift
	"$inherited" -- "$@" "$inherited" list >words 2>&1 </dev/null
	mv list "$lists.without"
}

# with COMMAND...: with us
with() {
	rm -f list
	"$inherited" -- "$@" >words 2>&1 </dev/null
	mv list "$lists.with" 2>/dev/null || cat words
}

# By which a program's labels are asked for, and by which it is preloaded.
labels='^environment PORTPROF_LABEL_TIMES='
preloaded='^environment (LD_PRELOAD|PORTPROF)='
for backend in perf timer itimer; do
	case $backend in
	perf) allowed=$labels ;;
	timer) allowed="$preloaded|^/proc/self/timers " ;;
	*) allowed=$preloaded ;;
	esac
	if ! can_use "$backend"; then
		skip "record -b $backend" "$(tail -n 1 "$tmp/words")"
		continue
	fi
	without "$backend" env
	with env "$portprof" record -q -g -b "$backend" -o out \
		"$inherited" list
	same_but "record -b $backend" "$allowed" "$backend"
	"$portprof" report -j out >report.json
	has "record -b $backend: a profile came of it" '"functions"' report.json
done

# first from outside, which fails; then by the preloaded object
deny=$programs/deny
if ! is_sanitized && "$deny" EPERM true && can_use timer; then
	without fallback "$deny" EPERM
	with "$deny" EPERM "$portprof" record -q -g -o out "$inherited" list
	same_but "record without perf" "$preloaded|^/proc/self/timers " fallback
	has "record without perf: was by the preloaded object" \
		'^environment PORTPROF=.*share=' fallback.with
else
	skip "record without perf" "no filter, or no timers, here"
fi

without stat env
with env "$portprof" stat -o out -e task-clock "$inherited" list
same_but "stat" '^$' stat

without stdout env
"$inherited" -- env "$portprof" record -q -o - "$inherited" list \
	>profile 2>words </dev/null
mv list stdout.with
same_but "record -o - but for standard output" \
	"$labels|$preloaded|^/proc/self/timers |^descriptor [12] " stdout

# a command of top has no terminal
if has_terminals &&
	grep -q 'define HAVE_CURSES 1' "$builddir/config.h"; then
	for backend in perf timer; do
		can_use "$backend" || continue
		without top env
		TERM=xterm with env python3 "$srcdir/tests/cli/terminal.py" \
			"$tmp/list" 1 q "$portprof" top -b "$backend" \
			-- sh -c "'$inherited' list; exec sleep 60"
		same_but "top -b $backend: limits" '^[^l]' top
	done
else
	skip "top" "no terminal, or built without curses"
fi
tap_end
