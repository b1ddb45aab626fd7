#!/bin/sh
# SPDX-License-Identifier: MIT
# Breakpoints on symbols of a command that stat starts, wherever it is loaded.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"

# lost_its_reason STATUS: whether a virtual machine's host lost why a trap came, which
# then killed the command (ppi_say_killed of tools/launch.c)
lost_its_reason() {
	[ "$1" -eq 133 ] && grep -q '^flags.* hypervisor' /proc/cpuinfo &&
		grep -q 'a breakpoint may have done that' "$tmp/words"
}

# counted WORDS "VALUE ..." ARGUMENT...: of the events, in their order
counted() {
	counted_words=$1 counted_values=$2
	shift 2
	"$portprof" stat -x ';' -o "$tmp/counts" "$@" >"$tmp/printed" 2>"$tmp/words"
	status=$?
	if lost_its_reason "$status"; then
		skip "$counted_words" "this machine's host lost why a breakpoint trapped"
		return
	fi
	same "$counted_words" "$counted_values" \
		"$(cut -d ';' -f 1 "$tmp/counts" | tr '\n' ' ' | sed 's/ $//')"
}

# refused WORDS STATUS PATTERN ARGUMENT...: before an instruction of it ran
refused() {
	refused_words=$1 refused_status=$2 refused_pattern=$3
	shift 3
	"$portprof" stat "$@" >"$tmp/printed" 2>"$tmp/words"
	same "$refused_words: status" "$refused_status" $?
	has "$refused_words: words" "$refused_pattern" "$tmp/words"
	has_not "$refused_words: nothing was run" ran "$tmp/printed"
}

cat >hit.c <<'EOT'
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

volatile int hits;

__attribute__((noinline)) void NAME(void)
{
	hits = hits + 1;
}

/* usage: hit TIMES [PROGRAM]     a child executes PROGRAM TIMES; "-" is itself */
int main(int argc, char **argv)
{
	int times = atoi(argv[1]), is_child = argc > 2 && fork() == 0;

	if (is_child && argv[2][0] != '-') {
		execl(argv[2], argv[2], argv[1], (char *)0);
		_exit(127);
	}
	if (!is_child)
		wait(NULL);
	for (int i = 0; i < times; i++)
		NAME();
	puts("ran");
	return 0;
}
EOT
if ! ${CC:-cc} -O1 -DNAME=hit -o hit hit.c 2>cc.words; then
	echo "skip: nothing can be compiled"
	exit 77
fi
if ! "$portprof" stat -e breakpoint:hit:x -- ./hit 1 >"$tmp/printed" 2>"$tmp/words"
then
	echo "skip: $(tail -n 1 "$tmp/words")"
	exit 77
fi

### Each hit is counted, from the first to the last

for times in 0 1 1000 100000; do
	counted "$times calls: each is counted, and each write" "$times $times" \
		-e breakpoint:hit:x,breakpoint:hits:w -- ./hit $times
done
counted "of children, too" 2000 -e breakpoint:hit -- ./hit 1000 -
counted "or not" 1000 --no-inherit -e breakpoint:hit -- ./hit 1000 -
counted "in a group" "500 500" -e '{breakpoint:hit,breakpoint:hits:w}' -- ./hit 500
counted "in each run" 500 -r 3 -e breakpoint:hit -- ./hit 500
"$portprof" stat -x ';' -o "$tmp/counts" -e task-clock,breakpoint:hit:u -- ./hit 10 \
	>"$tmp/printed" 2>"$tmp/words"
has "beside what is counted from its exec: the hits" '^10;;breakpoint:hit:u;' "$tmp/counts"
has "and the other" '^0\.[0-9]*[1-9][0-9]*;msec;task-clock|^[1-9][0-9.]*;msec;task-clock' \
	"$tmp/counts"

### A trap that killed it

cat >trap.c <<'EOT'
#include <signal.h>

__attribute__((noinline)) void hit(void)
{
	__asm__ volatile("");
}

int main(void)
{
	hit();
	return raise(SIGTRAP);
}
EOT
${CC:-cc} -O1 -o trap trap.c
killed() { # WORDS PATTERN ARGUMENT...
	killed_words=$1 killed_asks=$2
	shift 2
	"$portprof" stat "$@" -- ./trap >"$tmp/printed" 2>"$tmp/words"
	same "$killed_words: status" 133 $?
	has "$killed_words: what killed it" 'the command was killed by SIGTRAP' \
		"$tmp/words"
	"$killed_asks" "$killed_words: whether it may be ours" \
		'a breakpoint may have done that.*uprobe:' "$tmp/words"
}
killed "with a breakpoint" has -e task-clock,breakpoint:hit:x
killed "with one in a group" has -e '{breakpoint:hit:u}'
killed "without one" has_not -e task-clock,page-faults
"$portprof" stat -q -e breakpoint:hit -- ./trap >"$tmp/printed" 2>"$tmp/words"
has_not "quiet" 'killed' "$tmp/words"
"$portprof" stat --timeout 50 -e task-clock -- sleep 20 >"$tmp/printed" 2>"$tmp/words"
has_not "its own timeout" 'killed' "$tmp/words"
record -e breakpoint:hit -o trapped.pb.gz -- ./trap
same "record: status" 133 "$status"
has "record: whether it may be ours" 'a breakpoint may have done that' "$tmp/words"

### Another program at the same addresses

if ${CC:-cc} -O1 -no-pie -DNAME=hit -o fixed hit.c 2>cc.words &&
	${CC:-cc} -O1 -no-pie -DNAME=hat -o other hit.c 2>cc.words &&
	[ "$(nm fixed | grep ' hit$' | cut -d ' ' -f 1)" = \
		"$(nm other | grep ' hat$' | cut -d ' ' -f 1)" ]; then
	counted "what stands there in a child's next program is not it" 1000 \
		-e breakpoint:hit -- ./fixed 1000 ./other
else
	skip "another program there" "none can be linked there"
fi

### What a CPU has no register for

places=breakpoint:hit
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23; do
	places=$places,breakpoint:hits+$((4096 + 8 * i)):w
done
"$portprof" stat -x ';' -o "$tmp/counts" -e "$places" -- ./hit 10 >"$tmp/printed" 2>"$tmp/words"
same "more breakpoints than registers: exit status" 0 $?
has "the first is counted" '^10;;breakpoint:hit(:u)?;' "$tmp/counts"
has "others are refused" '^<not counted>;;breakpoint:hits' "$tmp/counts"
"$portprof" stat -e "$places" -- ./hit 10 >"$tmp/printed" 2>"$tmp/words"
has "for that reason" 'no debug register free' "$tmp/words"

# x86 cannot watch reads alone; who can counts them
if "$portprof" stat -x ';' -o "$tmp/counts" -e breakpoint:hits:r -- ./hit 10 \
	>"$tmp/printed" 2>"$tmp/words"; then
	has "reads are counted" '^1[0-9];;breakpoint:hits:r' "$tmp/counts"
else
	has "reads alone: the refusal says what to write" 'write rw' \
		"$tmp/words"
	has_not "and does not say that this is no command" 'portprof stat' \
		"$tmp/words"
fi

### What is wrong is said before the program runs

refused "a symbol that it lacks" 125 "no symbol 'hti'.*did you mean hit" \
	-e breakpoint:hti -- ./hit 1
refused "what its libraries have" 125 'libraries.*uprobe:FILE' \
	-e breakpoint:malloc_usable_size -- ./hit 1
refused "what the program has that it becomes" 125 "no symbol 'hit'" \
	-e breakpoint:hit -- sh -c 'exec ./hit 5'
refused "a program that is not there" 127 'no command' \
	-e breakpoint:hit -- ./nothing
printf 'echo ran\n' >script && chmod +x script
refused "a script" 125 "no symbol 'hit'" -e breakpoint:hit -- ./script

### Where a command is not stopped at its start

if [ "$(id -u)" -eq 0 ] && become_ordinary; then
	chmod 755 "$tmp" hit
	cp hit risen
	chmod 4755 risen
	ordinary "$portprof" stat -e breakpoint:hit:u -- ./risen 1 \
		>"$tmp/printed" 2>"$tmp/words"
	has "one that gets other rights is not traced: that is said" \
		'other rights.*administrator' "$tmp/words"
	has "with what can be done" 'attach to it|uprobe:FILE' "$tmp/words"
	ordinary "$portprof" stat -x ';' -o - -e breakpoint:hit:u -- ./hit 7 \
		>"$tmp/counts" 2>"$tmp/words"
	has "an ordinary user counts his own" '^7;;breakpoint:hit' "$tmp/counts"
else
	skip "an ordinary user" "not root, or this user cannot get here"
fi
tap_end
