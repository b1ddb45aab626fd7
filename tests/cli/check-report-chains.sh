#!/bin/sh
# SPDX-License-Identifier: MIT
# How far callers can be believed: the same program with and without frame
# pointers, recorded by perf.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
command -v python3 >/dev/null || { echo "skip: no python3 to read JSON"; exit 77; }
if ! can_use perf; then
	echo "skip: $(tail -n 1 "$tmp/words")"
	exit 77
fi
if ! grep -q 'define HAVE_LIBELF 1' "$builddir/config.h"; then
	echo "skip: built without libelf"
	exit 77
fi
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

record -b perf -F 1000 -g -o framed.pb.gz -- ./framed
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
	grep -q '^  callers  *all told for [0-9.]* % of the weight' "$tmp/report"

check "the header: an event's rate is not told thrice" \
	grep -Eq '^  event  *task-clock:freq=1000(:u)?, in user[a-z ]* mode: CPU time' \
	"$tmp/report"
check "the header: what was granted as asked is told once" \
	grep -Eq '^  rate  *1000 Hz, [0-9.]+ Hz achieved' "$tmp/report"
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
	record -b perf -F 1000 -g -o frameless.pb.gz -- ./frameless
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

record --call-graph dwarf -- ./framed
same "--call-graph dwarf: status" 125 "$status"
check "--call-graph dwarf: what to compile with" \
	grep -q -- '-fno-omit-frame-pointer' "$tmp/words"
tap_end
