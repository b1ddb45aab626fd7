#!/bin/sh
# SPDX-License-Identifier: MIT
# What takes longer than a second has a line on a terminal, which is gone when
# something else is printed; where there is no terminal there is none.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3
python3 -c 'import pty; pty.openpty()' 2>/dev/null ||
	{ echo "skip: no terminal can be made here: is /dev/pts mounted?"; exit 77; }
TERM=xterm
PORTPROF_PAGER='cat'
export TERM PORTPROF_PAGER
printf 'main;work;hot 7\nmain;idle 3\n' >stacks
"$portprof" export -q -f pprof -o other.pb.gz stacks || exit 99
gone=$(printf '\r\033\\[K')

# slow WORDS COMMAND...: the data come once the line is there
slow() {
	words=$1
	shift
	python3 "$srcdir/tests/cli/slow_pipe.py" stacks "$words" "$portprof" "$@" >shown
	status=$?
	tr -d '\n' <shown >line
	same "$1: status" 0 "$status"
	has "$1: a line while it reads" '^seen$' shown
	has "$1: which is gone at the end" \
		"$words: [0-9]+[^$(printf '\033')]*$gone($gone)*[^$(printf '\033')]*" line
}
slow reading report -
has "report: then it is there" 'hot' shown
slow reading report --html page.html -
slow reading export -f folded -o out -
has "export: what was read" 'main;work;hot 7' out
slow reading merge -o sum.pb.gz other.pb.gz -
same "merge: the sum" 20 "$("$portprof" report -q -x ';' sum.pb.gz |
	awk -F';' '{ sum += $2 } END { print sum + 0 }')"
slow reading diff other.pb.gz -
slow reading annotate hot -

# without one
(sleep 2; cat stacks) | "$portprof" export -f folded -o out - >shown 2>words
has_not "no terminal: no line" 'reading' words
has_not "nor anything that moves a cursor" "$(printf '\033')" words
tap_end
