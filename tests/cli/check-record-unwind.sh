#!/bin/sh
# SPDX-License-Identifier: MIT
# Call chains by frame tables: of programs as they are shipped, without frame
# pointers and debug sections, recorded by perf.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3
need_backend perf
cc=${CC:-cc}

record --call-graph dwarf,100 -o bad.pb.gz -- true
same "a copy of 100 bytes: status" 125 "$status"
has "a copy of 100 bytes: what can be" "stack" "$tmp/words"
record --call-graph auto -o auto.pb.gz -- "$burn" 50
same "auto works everywhere: status" 0 "$status"

record --call-graph dwarf -o try.pb.gz -- "$burn" 20
if [ "$status" -ne 0 ]; then
	has "refused with the reason" "elfutils|libdw|x86-64 and arm64" "$tmp/words"
	tap_end
fi

# spin is called by main, in a thread, through a table of the C library, in a
# handler of signals, and at the end of a deep recursion; the marker lies on
# each stack.
cat >subject.c <<'EOF2'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static volatile unsigned sum = 1;
static double used(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}
__attribute__((noinline)) static void spin(int ms)
{
	double end = used() + ms;
	volatile char marker[32];
	const char *text = "marker-of-a-";
	for (int i = 0; i < 12; i++)
		marker[i] = text[i], marker[12 + i] = "stack-copied"[i];
	while (used() < end)
		for (unsigned i = 0; i < 100000; i++)
			sum += sum * i + (unsigned)marker[5];
}
__attribute__((noinline)) static void by_main(void) { spin(300); sum++; }
static int compare(const void *a, const void *b)
{
	spin(60);
	return (*(const int *)a > *(const int *)b) + (int)(sum & 0);
}
static void *by_thread(void *unused) { spin(300); sum++; return unused; }
static void handler(int signal) { spin(300); sum += (unsigned)signal; }
__attribute__((noinline)) static void recurse(int depth)
{
	volatile char room[200];
	room[depth % 200] = 1;
	if (depth == 0)
		spin(300);
	else
		recurse(depth - 1);
	sum += (unsigned)room[depth % 200];
}
int main(int argc, char **argv)
{
	pthread_t thread;
	int list[] = { 1, 2, 3, 4 };
	if (argc > 1) {
		recurse(atoi(argv[1]));
		return 0;
	}
	by_main();
	qsort(list, 4, sizeof(list[0]), compare);
	pthread_create(&thread, NULL, by_thread, argv);
	pthread_join(thread, NULL);
	signal(SIGUSR1, handler);
	raise(SIGUSR1);
	return 0;
}
EOF2
if ! $cc -O2 -fomit-frame-pointer -o subject subject.c -lpthread \
	2>"$tmp/words"; then
	echo "skip: $cc cannot compile"
	exit 77
fi

record -F 500 --call-graph dwarf -o subject.pb.gz -- ./subject
same "recorded" 0 "$status"
report -i subject.pb.gz
has "nothing is lost" '^  samples .* 0 lost' "$tmp/report"
has "callers can be believed" 'callers  *complete for (9[5-9]|100)' "$tmp/report"
has_not "and that is said once" 'note .*by frame tables' "$tmp/report"
has_not "nobody is told to compile again" 'fno-omit-frame-pointer' "$tmp/report"
"$portprof" report -j -i subject.pb.gz >report.json

# under FUNCTION SHARE: of the weight, so much is below it
under() {
	check "$1 has $2 % of the weight below it" python3 -c '
import json, sys
report = json.load(open("report.json"))
below = sum(x["total_weight"] for x in report["functions"] if x["name"] == sys.argv[1])
sys.exit(below * 100 < report["chains"]["weight"] * float(sys.argv[2]))' "$1" "$2"
}
under main 65
under by_main 12
under compare 12
under by_thread 12
under handler 12
report -q -i subject.pb.gz --callers handler
has "what a signal interrupts is below what it interrupts" \
	'raise|pthread_kill|sigreturn|restore_rt|libc' "$tmp/report"
gzip -dc subject.pb.gz >subject.pb
check "no stack is in the file" \
	sh -c '! grep -q marker-of-a-stack subject.pb'

record -v -F 500 -g -o auto.pb.gz -- ./subject
has "-v prints what unwinding cost, and how large the table of rules is" \
	'unwinding: [0-9]+ samples of .* us of .* table of [0-9]+ KiB' "$tmp/words"
has "a note of the session says how many are whole" \
	'by frame tables: (9[5-9]|100)[.0-9]* % of the weight whole' "$tmp/words"
report -i auto.pb.gz
has "-g does the same" 'callers  *complete for (9[5-9]|100)' "$tmp/report"

record -F 500 --call-graph dwarf,4096 -o deep.pb.gz -- ./subject 10000
same "10,000 deep: recorded" 0 "$status"
report -i deep.pb.gz
has "10,000 deep: cut, and why" 'cut.* stack copy too short' "$tmp/report"
has "10,000 deep: the verdict has the share, the module and what helps" \
	'cut for [0-9.]* %.*copy.*subject [0-9.]* %.*--call-graph dwarf,8192' "$tmp/report"
has "10,000 deep: nothing is lost" '^  samples .* 0 lost' "$tmp/report"
report -q -i deep.pb.gz
not_under deep.pb.gz "10,000 deep: no caller is invented" main 5

# Programs of 32 bits: by frame pointers, and the verdict says so.
cat >small.c <<'EOF2'
static volatile unsigned sum;
__attribute__((noinline)) static void spin32(void)
{
	for (unsigned i = 0; i < 300000000; i++)
		sum += i;
}
__attribute__((noinline)) static void middle32(void) { spin32(); sum++; }
void _start(void)
{
	middle32();
	__asm__ volatile("int $0x80" : : "a"(1), "b"(0));
}
EOF2
if [ "$(uname -m)" = x86_64 ] && $cc -m32 -O0 -fno-omit-frame-pointer -fno-pie \
	-static -nostdlib -o small small.c 2>"$tmp/words"; then
	record -F 500 -g -o small.pb.gz -- ./small
	same "32 bits: recorded" 0 "$status"
	report -i small.pb.gz
	has "32 bits: the verdict says so" \
		'cut for (9[0-9.]*|100.0) %: 32-bit' "$tmp/report"
	report -q -i small.pb.gz --callers spin32
	has "32 bits: callers by frame pointers" 'middle32' "$tmp/report"
else
	skip "32 bits" "$cc makes no such program"
fi

# Tables that cannot be read: frame pointers are followed, and that is said.
cat >plain.c <<'EOF2'
#include <portprof.h>
#include <stdio.h>
int main(void)
{
	portprof_config *config = portprof_config_new();
	portprof_session *session;
	volatile unsigned sum = 0;
	const char *note;

	portprof_config_set_number(config, "callchain", 64);
	if (portprof_session_open(config, &session) != PORTPROF_OK) {
		printf("refused: %s\n", portprof_last_diag()->words);
		return 0;
	}
	portprof_session_start(session);
	for (unsigned i = 0; i < 100000000; i++)
		sum += i;
	portprof_session_stop(session);
	for (size_t i = 0; (note = portprof_session_note(session, i)); i++)
		printf("%s\n", note);
	portprof_session_close(session);
	portprof_config_free(config);
	return 0;
}
EOF2
if [ -f "$builddir/.libs/libportprof.so" ] &&
	[ "${PP_SANITIZERS:-no}${PP_COVERAGE:-no}" = nono ] &&
	$cc -I"$srcdir/api" -I"$builddir/api" -o plain plain.c \
		-L"$builddir/.libs" -lportprof 2>/dev/null; then
	mkdir -p broken
	echo "no library" >broken/libdw.so.1
	libs=$(cd "$builddir/.libs" && pwd)
	LD_LIBRARY_PATH=$libs ./plain >"$tmp/with"
	LD_LIBRARY_PATH=$PWD/broken:$libs ./plain >"$tmp/without"
	if grep -q '^refused: ' "$tmp/with"; then
		has "no tables: refused alike" '^refused: ' "$tmp/without"
	else
		has_not "tables: nothing is said of frame pointers" \
			'by frame pointers' "$tmp/with"
		has "no tables: frame pointers, and why" \
			'by frame pointers, .*libdw' "$tmp/without"
	fi
else
	skip "no tables" "no shared library to link with here"
fi

# A frame table that is hostile can make libdw take gigabytes. In a build with a
# sanitizer there is no such limit.
if [ -r /proc/self/limits ] && [ "${PP_SANITIZERS:-no}" = no ]; then
	# shellcheck disable=SC2016
	record -o limits.pb.gz -- sh -c 'ulimit -d; grep "Max data" /proc/$PPID/limits'
	# shellcheck disable=SC3045 # every shell here has it
	same "the command has the limits of before" "$(ulimit -d)" \
		"$(head -n 1 "$tmp/printed")"
	has "the recorder bounds its own memory" 'Max data size *[0-9]' "$tmp/printed"
fi
tap_end
