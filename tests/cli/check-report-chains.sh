#!/bin/sh
# SPDX-License-Identifier: MIT
# How far callers can be believed: the same program with and without frame
# pointers, recorded by perf.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3
need_backend perf
need_library LIBELF
cc=${CC:-cc}

# drive <- main is whole where frames are kept. spin and drive call something,
# so that no compiler takes them for functions too small for a frame; the
# volatile array keeps the frame pointer's register in use without frames.
cat >subject.c <<'EOF2'
#include <time.h>
static double used(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}
__attribute__((noinline)) static unsigned spin(volatile unsigned *at)
{
	double end = used() + 5;
	unsigned sum = 0;
	while (used() < end)
		for (unsigned i = 0; i < 300000; i++)
			sum += *at += i;
	return sum;
}
__attribute__((noinline)) static unsigned drive(volatile unsigned *at)
{
	unsigned sum = 0;
	for (int i = 0; i < 60; i++)
		sum += spin(at);
	return sum;
}
int main(void)
{
	volatile unsigned at = 1;
	return drive(&at) == 7;
}
EOF2
if ! $cc -O1 -g -fno-omit-frame-pointer -o framed subject.c 2>"$tmp/words" ||
	! $cc -O1 -g -fomit-frame-pointer -o frameless subject.c 2>"$tmp/words"
then
	echo "skip: $cc cannot compile"
	exit 77
fi
machine=$(uname -m)

record -b perf -F 997 --call-graph fp -o framed.pb.gz -- ./framed
same "with frame pointers: recorded" 0 "$status"
claim "with frame pointers: spin is in main's total" \
	"sum(x['total_weight'] for x in r['functions'] if x['name'] == 'main') > r['chains']['weight'] * 0.9"
claim "with frame pointers: the program's own chains do not end early" \
	"sum(x['weight'] for x in r['chains']['modules'] if x['module'] == 'framed') < r['chains']['weight'] * 0.1"
claim "with frame pointers: the sum is that of the samples" \
	"r['chains']['weight'] == sum(x['self_weight'] for x in r['functions'])"
judge framed.pb.gz
report -i framed.pb.gz
check "with frame pointers: the header tells how far to believe callers" \
	grep -q '^  callers  *complete for [0-9.]* % of the weight' "$tmp/report"

check "the header: an event's rate is not told thrice" \
	grep -Eq '^  event  *task-clock:freq=997(:u)?, in user.* mode.*: CPU time' \
	"$tmp/report"
check "the header: what was granted as asked is told once" \
	grep -Eq '^  rate  *997 Hz, [0-9.]+ Hz achieved' "$tmp/report"
report -q -i framed.pb.gz --callers pin
same "a part of a name: status" 1 "$status"
has "a part of a name: whose" "no function 'pin' .*; did you mean .*spin" \
	"$tmp/words"
report -q -i framed.pb.gz --focus drvie
has "--focus: what may be meant" "no function 'drvie' .*did you mean drive" \
	"$tmp/words"
report -q -i framed.pb.gz --module framd
has "--module: what may be meant" "no module 'framd' .*did you mean framed" \
	"$tmp/words"
report -q -i framed.pb.gz --module framed
same "--module: rows of others are left out" "" \
	"$(grep -v '(' "$tmp/report" | sed 1d | awk '$(NF - 1) != "framed"')"
check "--module: there are rows" grep -q ' framed  *main$' "$tmp/report"
report -q -i framed.pb.gz --callers spin -s line
same "callers by line: status" 0 "$status"
if grep -q 'define HAVE_LIBDW 1' "$builddir/config.h"; then
	call=$(grep -n 'sum += spin' subject.c | cut -d: -f1)
	check "callers by line: the line of the call" \
		grep -Eq "framed  *subject.c:$call  *drive" "$tmp/report"
	"$portprof" report -j -i framed.pb.gz --callers spin -s line \
		>"$tmp/json" 2>"$tmp/words"
	check "callers by line, for programs" python3 -c '
import json, sys
rows = json.load(open(sys.argv[1]))["callers"]
sys.exit(not any(x["name"] == "drive" and x["line"] == int(sys.argv[2])
                 for x in rows))' "$tmp/json" "$call"
fi

case $machine in
x86_64)
	record -b perf -F 1000 --call-graph fp -o frameless.pb.gz -- ./frameless
	same "without: recorded" 0 "$status"
	claim "without: most chains are doubted" \
		"r['chains']['end_early'] + r['chains']['leave_one_out'] > r['chains']['weight'] * 0.8"
	claim "without: the program is named" \
		"r['chains']['modules'][0]['module'] == 'frameless'"
	judge frameless.pb.gz
	report -i frameless.pb.gz
	check "without: the header names program and flag" \
		grep -q 'without frame pointers: frameless .*-fno-omit-frame-pointer' \
		"$tmp/report"
	report -q -i frameless.pb.gz --callers spin
	same "without: callers can be asked for" 0 "$status"
	check "without: no caller is claimed for sure" \
		grep -qE '\(unknown\)|the caller itself is missing' "$tmp/report"
	;;
*) skip "without frame pointers" "this ABI may keep them all the same" ;;
esac

record -b perf -F 1000 -o flat.pb.gz -- ./framed
claim "without -g: no verdict on chains" "r['chains'] is None"
judge flat.pb.gz

# What a stack holds that is no return address is no caller: glibc's code in a
# static program uses the frame pointer's register for something else, and in
# front of it stand functions that nobody calls.
if $cc -O1 -g -fno-omit-frame-pointer -static -o static subject.c 2>/dev/null
then
	record -b perf -F 1000 --call-graph fp -o static.pb.gz -- ./static
	same "static: recorded" 0 "$status"
	claim "static: no row for what was not called" \
		"not any(x['name'].endswith('tm_clones') or '+0x' in x['name'] and 'static' in x['module'] for x in r['functions'])"
	claim "static: main is in nearly all" \
		"sum(x['total_weight'] for x in r['functions'] if x['name'] == 'main') > r['chains']['weight'] * 0.9"
	judge static.pb.gz
	"$portprof" export -f folded static.pb.gz >stacks
	same "static: nor in folded stacks" "" "$(grep tm_clones stacks)"
else
	skip "static" "$cc cannot link statically"
fi

# Deeper than the chain may be: cut, and no code is to blame.
cat >deep.c <<'EOF2'
#include <stdlib.h>
volatile unsigned at;
__attribute__((noinline)) static void turn(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		at += i;
}
__attribute__((noinline)) static void down(int depth)
{
	if (depth)
		down(depth - 1);
	else
		turn(3000000), turn(1);
	at++;
}
int main(int count, char **words)
{
	(void)count;
	for (int i = 0; i < 40; i++)
		down(atoi(words[1]));
	return 0;
}
EOF2
$cc -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -o deep deep.c 2>/dev/null ||
	$cc -O1 -fno-omit-frame-pointer -o deep deep.c
record -b perf -F 500 --call-graph fp -o deep.pb.gz -- ./deep 1200
claim "deeper than the limit: cut" \
	"r['chains']['cut'] > r['chains']['weight'] * 0.8"
claim "deeper than the limit: no module is named for it" \
	"sum(x['weight'] for x in r['chains']['modules'] if x['module'] == 'deep') < r['chains']['weight'] * 0.1"
judge deep.pb.gz
record -b perf -F 500 --call-graph fp -o shallow.pb.gz -- ./deep 20
claim "within the limit: not cut" \
	"r['chains']['cut'] < r['chains']['weight'] * 0.1"
judge shallow.pb.gz

# A program without a C library, of the smaller word size: _start is the root.
cat >small.c <<'EOF2'
volatile unsigned at;
__attribute__((noinline)) static void inner(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		at += i;
}
__attribute__((noinline)) static void outer(unsigned n)
{
	inner(n);
	at++;
}
void _start(void)
{
	for (int i = 0; i < 60; i++)
		outer(2000000);
	__asm__ volatile("int $0x80" : : "a"(1), "b"(0));
}
EOF2
if [ "$machine" = x86_64 ] && $cc -m32 -O1 -fno-omit-frame-pointer -nostdlib \
	-static -fno-pie -no-pie -fno-stack-protector -o small small.c \
	2>/dev/null && ./small
then
	record -b perf -F 500 --call-graph fp -o small.pb.gz -- ./small
	same "32 bits: recorded" 0 "$status"
	# what the kernel did before _start is not beneath it
	claim "32 bits: _start is the root of what it calls" \
		"f('inner') > r['total_weight'] * 0.5 and sum(x['total_weight'] for x in r['functions'] if x['name'] == '_start') >= f('inner')"
	claim "32 bits: nothing ends early" \
		"r['chains']['end_early'] < r['chains']['weight'] * 0.1"
	judge small.pb.gz
	"$portprof" export -f folded small.pb.gz >stacks
	same "32 bits: nothing in front of _start" "" \
		"$(grep '_start;' stacks | grep -v '^_start;')"
else
	skip "32 bits" "no 32-bit program can be made or run here"
fi

# Go keeps frame pointers, and has no unwind tables that say so.
cat >goes.go <<'EOF2'
package main

var at uint64

//go:noinline
func inner(n int) uint64 {
	s := at
	for i := 0; i < n; i++ {
		s = s*31 + uint64(i)
	}
	last(s)
	return s
}

//go:noinline
func last(s uint64) { at = s }

func main() {
	for i := 0; i < 60; i++ {
		at += inner(3000000)
	}
}
EOF2
if GOCACHE=$tmp/go HOME=$tmp GO111MODULE=off go build -o goes goes.go \
	>/dev/null 2>&1
then
	record -b perf -F 500 --call-graph fp -o goes.pb.gz -- ./goes
	same "Go: recorded" 0 "$status"
	claim "Go: complete" \
		"r['chains']['end_early'] + r['chains']['leave_one_out'] + r['chains']['last_caller_missing'] < r['chains']['weight'] * 0.2"
	claim "Go: with main.main in nearly all" \
		"sum(x['total_weight'] for x in r['functions'] if x['name'] == 'main.main') > r['chains']['weight'] * 0.8"
	judge goes.pb.gz
else
	skip "Go" "no go command to compile with"
fi

record --call-graph lbr -- ./framed
same "--call-graph lbr: status" 125 "$status"
has "--call-graph lbr: what there is" 'fp.*dwarf' "$tmp/words"
tap_end
