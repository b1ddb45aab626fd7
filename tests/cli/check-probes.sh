#!/bin/sh
# SPDX-License-Identifier: MIT
# Probes of programs that create threads and processes: exact counts and samples
# where tracefs may be written, what is said where it may not, and entries of
# tracefs that are gone afterwards.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"

cat >hit.c <<'EOT'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

volatile int hits;
static int times;

__attribute__((noinline)) void hit(void)
{
	hits = hits + 1;
}

/* x86: an instruction with a prefix that the kernel sets no probe on */
__attribute__((noinline)) void locked(void)
{
	__atomic_fetch_add(&hits, 1, __ATOMIC_SEQ_CST);
}

static void *work(void *unused)
{
	for (int i = 0; i < times; i++)
		hit();
	return unused;
}

static void must(int is_well, const char *words)
{
	if (is_well)
		return;
	perror(words);
	_exit(3);
}

/* usage: hit TIMES THREADS PROCESSES EXECUTING [GATE]     each does TIMES, the first
 * last; GATE: it waits for a line from there, and its end */
int main(int argc, char **argv)
{
	int threads = atoi(argv[2]), processes = atoi(argv[3]);
	int executing = atoi(argv[4]);
	pthread_t ids[16];
	FILE *gate = argc > 5 ? fopen(argv[5], "r") : NULL;
	char line[8];

	times = atoi(argv[1]);
	if (gate)
		must(fgets(line, sizeof(line), gate) != NULL, "gate");
	for (int i = 0; i < threads; i++)
		must(!pthread_create(&ids[i], NULL, work, NULL), "thread");
	for (int i = 0; i < processes + executing; i++) {
		pid_t child = fork();

		must(child >= 0, "fork");
		if (child == 0 && i >= processes)
			execl(argv[0], argv[0], argv[1], "0", "0", "0",
			      (char *)0);
		if (child == 0)
			work(NULL);
		if (child == 0)
			_exit(i >= processes);
	}
	for (int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	for (int status; wait(&status) > 0;)
		must(status == 0, "child");
	work(NULL);
	if (gate)
		fgets(line, sizeof(line), gate);
	locked();
	puts("ran");
	return 0;
}
EOT
if ! ${CC:-cc} -O1 -pthread -o hit hit.c 2>cc.words; then
	echo "skip: nothing can be compiled"
	exit 77
fi
probe=uprobe:$PWD/hit:hit returns=uretprobe:$PWD/hit:hit
if ! "$portprof" stat -x ';' -o counts -e "$probe" -- ./hit 1000 0 0 0 \
	>"$tmp/printed" 2>"$tmp/words" || ! grep -q '^1000;' counts; then
	echo "skip: $(tail -n 1 "$tmp/words" | tr '#' ' ')"
	exit 77
fi

# Of a program that begins, the kernel says to nobody that it set none.
"$portprof" stat -e "uprobe:$PWD/hit:locked" -- ./hit 1 0 0 0 >"$tmp/printed" \
	2>"$tmp/words"
status=$?
if grep -q ' 1 .*uprobe' "$tmp/words"; then
	skip "an instruction that the kernel sets no probe on" "it does here"
else
	same "an instruction that the kernel sets no probe on is refused" 125 $status
	has "with the reason" "probe 'uprobe:[^']*/hit:locked'.*cannot be probed" "$tmp/words"
	has_not "before the program runs" ran "$tmp/printed"
fi

# With tracefs, and without: in a namespace of mounts that nobody else sees.
cat >traced.sh <<'EOT'
mount -t tracefs tracefs /sys/kernel/tracing || exit 77
exec "$@"
EOT
cat >bare.sh <<'EOT'
for folder in /sys/kernel/tracing /sys/kernel/debug; do
	[ ! -d $folder ] || mount -t tmpfs none $folder || exit 77
done
exec "$@"
EOT
if ! unshare -m sh bare.sh true 2>/dev/null; then
	echo "skip: no namespace of mounts"
	exit 77
fi

# counted SPACE WORDS "VALUE ..." ARGUMENT...: of the events, in their order
counted() {
	counted_space=$1 counted_words=$2 counted_values=$3
	shift 3
	unshare -m sh "$counted_space.sh" "$portprof" stat -x ';' -o counts "$@" \
		>"$tmp/printed" 2>"$tmp/words"
	status=$?
	same "$counted_words: status" 0 "$status"
	same "$counted_words" "$counted_values" \
		"$(cut -d ';' -f 1 counts | tr '\n' ' ' | sed 's/ $//')"
}

### Where there is no tracefs

# They are not handed on: where they were, fork and pthread_create failed.
counted bare "without tracefs the program runs, and its first thread is counted" \
	"100 100" -e "$probe,$returns" -- ./hit 100 2 2 1
has "that others are not counted is said" 'begin later' "$tmp/words"
has "and what can be done" 'mount -t tracefs.*-a' "$tmp/words"
long=$(printf '%0150d' 0)
mkdir "$long" && cp hit "$long"
counted bare "a long path" 100 -e "uprobe:./$long/hit:hit" -- "$long/hit" 100 2 2 1
has "does not cut that off" 'mount -t tracefs.*-a' "$tmp/words"
"$portprof" stat -e uprobe:nothing.so:f -- ./hit 1 1 1 1 2>"$tmp/words"
has "a library that is not mapped yet needs its path" 'give its path' "$tmp/words"
counted bare "of the whole system all are counted" 600 -a -e "$probe" -- ./hit 100 2 2 1
has_not "and there is nothing to say" 'begin later' "$tmp/words"

### Which capability it takes

# only CAPABILITY COMMAND...: with that one
only() {
	capability=$1
	shift
	setpriv --inh-caps=-all "--bounding-set=-all,+$capability" "$@"
}
if [ "$(id -u)" -eq 0 ] && only sys_admin true 2>/dev/null; then
	only sys_admin "$portprof" stat -e "$probe" -- ./hit 1 0 0 0 \
		>"$tmp/printed" 2>"$tmp/words"
	same "what every kernel takes is enough" 0 $?
	if ! only perfmon "$portprof" stat -e "$probe" -- ./hit 1 0 0 0 \
		>"$tmp/printed" 2>"$tmp/words"; then
		has "who has CAP_PERFMON is told what is missing" \
			'needs CAP_SYS_ADMIN.*CAP_PERFMON is not enough' \
			"$tmp/words"
		has_not "and not to get it" 'cap_perfmon|add PERFMON' \
			"$tmp/words"
	fi
else
	skip "which capability it takes" "it takes root and setpriv"
fi

### Where there is

if ! unshare -m sh traced.sh test -w /sys/kernel/tracing/uprobe_events 2>/dev/null; then
	skip "probes that are handed on" "no tracefs that may be written"
	tap_end
fi

# entries: those that are of this test's program
entries() {
	unshare -m sh traced.sh grep -F "$PWD/hit:" /sys/kernel/tracing/uprobe_events
}
# begun NUMBER: so many entries are there, in a while
# shellcheck disable=SC2317 # check calls it
begun() {
	begun_left=600
	while [ "$(entries | wc -l)" -ne "$1" ]; do
		begun_left=$((begun_left - 1))
		[ "$begun_left" -gt 0 ] || return 1
		sleep 0.1
	done
}

for times in 0 1 1000 $(by_speed 12500 25000 100000); do
	counted traced "$times calls in 8 threads and processes are $((times * 8))" \
		"$((times * 8)) $((times * 8))" -e "$probe,$returns" \
		-- ./hit "$times" 4 2 1
	has "and the program ran" '^ran' "$tmp/printed"
	has_not "of all of them" 'begin later' "$tmp/words"
done
for round in $(by_speed "1 2 3" "1 2 3 4 5 6" "$(seq 60)"); do
	counted traced "processes at once, in a group: round $round" "9000 9000" \
		-e "{$probe,$returns}" -- ./hit 1000 0 6 2
done
counted traced "not of children, where they are not to be" 3000 --no-inherit \
	-e "$probe" -- ./hit 1000 2 4 0
counted traced "in each run" 600 -r 3 -e "$probe" -- ./hit 100 2 2 1
counted traced "by a path as it stands there" 600 -e "uprobe:./hit:hit" \
	-- ./hit 100 2 2 1
counted traced "without a slash" 600 -e "uprobe:hit:hit" -- ./hit 100 2 2 1
counted traced "through another name of the root" 600 \
	-e "uprobe:/proc/self/root$PWD/hit:hit" -- ./hit 100 2 2 1
cp hit 'hit#' && cp hit 'hit:'
counted traced "a path that cannot be written there is said" 100 -e "uprobe:$PWD/hit#:hit" \
	-- './hit#' 100 2 2 1
has "with the reason" "begin later.*'#'" "$tmp/words"

for events in "$probe:period=1" "$probe:period=1,task-clock"; do
	unshare -m sh traced.sh "$portprof" record -q -o run.pb.gz -e "$events" -- \
		./hit 1000 4 2 1 >"$tmp/printed" 2>"$tmp/words"
	same "record $events: status" 0 $?
	"$portprof" report -v -i run.pb.gz -e "$(echo "$events" | cut -d , -f 1)" \
		>"$tmp/report" 2>&1
	has "a sample for each" ' 8000 kept, 0 lost' "$tmp/report"
done

# attached while it runs, before it creates any
mkfifo gate
./hit 500 3 2 0 gate >"$tmp/printed" 2>&1 &
program=$!
unshare -m sh traced.sh "$portprof" stat -x ';' -o counts -e "$probe" -p $program \
	>"$tmp/words" 2>&1 &
stat=$!
exec 9>gate
check "attached: it is in tracefs" begun 1
place=$(entries | cut -d ' ' -f 2)
unshare -m sh traced.sh "$portprof" stat -e "uprobe:$PWD/hit:locked" -p $program \
	>"$tmp/words" 2>&1
if [ $? -eq 125 ]; then
	has "what the kernel can set no probe on is refused" "probe 'uprobe:[^']*/hit:locked'.*cannot be probed" "$tmp/words"
else
	skip "what the kernel can set no probe on" "it does there"
fi
# and is nobody else's to sweep
counted traced "another session, meanwhile" 600 -e "$probe" -- ./hit 100 2 2 1
same "it leaves a living process's where it is" 1 "$(entries | wc -l)"
echo >&9
exec 9>&-
wait $program
same "attached: the program ran" 0 $?
wait $stat
same "attached: all that it created are counted" 3000 "$(cut -d ';' -f 1 counts)"
same "nothing is left in tracefs" "" "$(entries)"

# A tracepoint that somebody else made so, as perf probe does.
cat >by-hand.sh <<'EOT'
events=/sys/kernel/tracing/uprobe_events group=by_hand_$$ place=$1
shift
echo "p:$group/hit $place" >>$events || exit 77
"$@" -e $group:hit -- ./hit 1000 0 6 2
echo "-:$group/hit" >>$events
EOT
for round in $(by_speed "1 2 3" "1 2 3 4 5 6" "$(seq 60)"); do
	unshare -m sh traced.sh sh by-hand.sh "$place" "$portprof" stat -x ';' \
		-o counts >"$tmp/words" 2>&1
	same "tracepoints of probes are of processes at once: round $round" 9000 \
		"$(cut -d ';' -f 1 counts)"
done

for signal in INT TERM KILL; do
	for verb in "stat -o counts" "record -q -o run.pb.gz"; do
		# shellcheck disable=SC2086 # words
		unshare -m sh traced.sh "$portprof" $verb -e "$probe" -- \
			./hit 100 1 1 0 gate >"$tmp/words" 2>&1 &
		victim=$!
		exec 9>gate
		check "${verb%% *}, SIG$signal: it began" begun 1
		kill -$signal $victim
		exec 9>&-
		wait $victim 2>/dev/null
		[ $signal != KILL ] || continue
		same "${verb%% *}, SIG$signal: nothing is left" "" "$(entries)"
	done
done
# Events of a program that continues are the kernel's for a moment longer.
counted traced "who was killed has left some: the next counts" 600 -e "$probe" \
	-- ./hit 100 2 2 1
check "and sweeps them" begun 0

tap_end
