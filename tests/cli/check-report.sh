#!/bin/sh
# SPDX-License-Identifier: MIT
# portprof report on a real program whose hot code is known: by function,
# line, thread and module, callers and callees, filters, CSV and JSON.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3

# Who calls whom is known, and in which lines the time goes. Nothing is in
# the last position of its function, where the compiler could jump.
cat >subject.c <<'EOF2'
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
static volatile unsigned long sink;
static double used(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}
static inline __attribute__((always_inline)) void mix(void)
{
	for (int i = 0; i < 20000; i++) sink = sink * 31 + 7; /* LINE mix */
}
__attribute__((noinline)) int spin(double ms)
{
	double end = used() + ms;
	while (used() < end)
		mix(); /* LINE call */
	return sink != 0;
}
__attribute__((noinline)) int heavy(double ms) { return spin(ms) + 1; }
__attribute__((noinline)) int light(double ms) { return spin(ms) + 1; }
static void *work(void *ms)
{
	heavy(*(double *)ms);
	light(*(double *)ms / 3);
	return ms;
}
int main(int argc, char **argv)
{
	double ms = argc > 1 ? atof(argv[1]) : 300, main_ms = ms / 2;
	pthread_t thread;
	pthread_create(&thread, 0, work, &ms);
	pthread_setname_np(thread, "helper");
	work(&main_ms);
	return pthread_join(thread, 0);
}
EOF2
if ! ${CC:-cc} -D_GNU_SOURCE -g -O1 -fno-omit-frame-pointer \
	-fno-optimize-sibling-calls -pthread -o subject subject.c 2>err; then
	echo "skip: the subject cannot be built: $(head -n 1 err)"
	exit 77
fi
line_of() {
	grep -n "LINE $1" subject.c | cut -d: -f1
}

has_chains=
if can_use perf; then
	record -q -b perf -g -F 1000 -o p.pb.gz -- ./subject 300
	has_chains=yes
else
	record -q -F 1000 -o p.pb.gz -- ./subject 300
fi
same "a profile of known code" 0 "$status"

# asked WORDS CLAIM OPTION...: what the report says as JSON (r) or CSV (rows,
# a list of dictionaries)
asked() {
	asked_words=$1 asked_claim=$2
	shift 2
	"$portprof" report -i "${asked_file:-p.pb.gz}" "$@" >out 2>err
	asked_status=$?
	if [ $asked_status -eq 0 ] && python3 -c '
import csv, json, sys
text = open("out", encoding="utf-8").read()
if text.startswith("{"):
    r = json.loads(text)
else:
    rows = list(csv.DictReader(text.splitlines()))
    for row in rows:
        for key in ("self", "total", "samples", "line"):
            if row.get(key):
                row[key] = int(row[key])
def share(name):
    return sum(x["share"] for x in r["functions"] if x["name"] == name)
sys.exit(not eval("(" + sys.argv[1] + ")"))' "$asked_claim" 2>>err; then
		ok "$asked_words"
	else
		not_ok "$asked_words"
		echo "# status $asked_status; fails: $asked_claim"
		sed 's/^/# > /' out err | head -n 40
	fi
}

### Rows

asked "the hot function comes first" \
	'r["functions"][0]["name"] == "spin" and share("spin") > 0.7' --json
asked "CSV has the same weights" \
	'sum(x["self"] for x in rows) > 0 and rows[0]["function"] == "spin"' -x ,
asked "parts make the total in CSV" \
	'abs(sum(float(x["self_share"]) for x in rows) - 1) < 1e-4' -x ,
asked "as many rows as asked for, and the rest" \
	'len([x for x in rows if not x["function"].startswith("(")]) == 1 and
	sum(float(x["self_share"]) for x in rows) > 0.999' -x , -n 1
asked "by thread" \
	'sorted(x["thread"] for x in r["rows"])[:1] == ["helper"] and
	len(r["rows"]) == 2' --json --sort thread
asked "by comm: weights of names" \
	'[x["thread"] for x in rows if x["thread"][0] != "("] ==
	["helper", "subject"]' -x , --sort comm
asked "by module" \
	'rows[0]["module"].endswith("/subject") and "function" not in rows[0]' \
	-x , --sort module
asked "by address: rows are addresses of the hot code" \
	'int(rows[0]["address"], 16) > 0 and rows[0]["function"] == "spin"' \
	-x , --sort address
if grep -q 'define HAVE_LIBDW 1' "$builddir/config.h"; then
	asked "by line: the hot one is the loop's" \
		"rows[0]['line'] == $(line_of mix) and
		rows[0]['file'].endswith('subject.c')" -x , --sort line
	asked "an inlined function is told apart" \
		'rows[0]["function"] == "mix"' -x , --inline
	report -i p.pb.gz --sort line --inline
	has "the header says where lines come from" \
		'^  symbols  .*lines and inlined functions of DWARF' "$tmp/report"
	asked "and where it was inlined" \
		"any(x['function'] == 'spin' and x['line'] == $(line_of call) and
		x['total'] > 0 for x in rows)" -x , --inline --sort line
else
	skip "by line: the hot one is the loop's" "built without libdw"
	report -i p.pb.gz --sort line
	has "without libdw: the header says so" '^  symbols .*no lines' \
		"$tmp/report"
fi

### Chains

if [ "$has_chains" ]; then
	asked "callers, as they share the work" \
		'{"heavy", "light"} <= {x["name"] for x in r["callers"]} and
		r["callers"][0]["name"] == "heavy" and
		sum(x["weight"] for x in r["callers"]) >= r["functions"][0]["self_weight"]' \
		--json --callers spin
	asked "callees: most is in spin" \
		'rows[0]["function"] == "spin" and
		{x["edge"] for x in rows} == {"callees"}' -x , --callees heavy
	asked "in total the first is who called all" \
		'rows[0]["total"] >= rows[-2]["total"] and
		"work" in [x["function"] for x in rows[:4]]' -x , --children
	report -i p.pb.gz -q --callers spin --callees heavy
	has "callers for people" '^Callers of spin, [0-9.]+ m?s \(' "$tmp/report"
	has "callees for people" '^Called by heavy, [0-9.]+ m?s \(' "$tmp/report"
	asked "focus on one caller" \
		'0 < share("spin") < 0.6 and r["left_out"] > 0 and
		"heavy" not in [x["name"] for x in r["functions"]]' \
		--json --focus light
	report -i p.pb.gz --callers nobody_calls_this
	same "callers of what is not there: status" 1 "$status"
	has "callers of what is not there: words" \
		"no function 'nobody_calls_this'" "$tmp/words"
else
	skip "callers and callees" "no perf here, so no chains"
fi
record -q -F 1000 -o flat.pb.gz -- ./subject 30
report -i flat.pb.gz --callers spin
same "callers without chains: status" 1 "$status"
has "callers without chains: what to do" 'record with -g' "$tmp/words"

### Filters

asked "one thread" \
	'[x["name"] for x in r["threads"]] == ["helper"] and r["left_out"] > 0 and
	sum(x["self_weight"] for x in r["functions"]) + r["left_out"] +
	r["outside"] + r["unattributed"] == r["total_weight"]' \
	--json --thread helper
asked "one module" \
	'{x["module"] for x in r["functions"] if x["self_weight"]} == {"subject"}' \
	--json --module subject
report -i p.pb.gz --thread nobody
same "a thread that is not there: status" 1 "$status"
has "a thread that is not there: words" \
	"no thread 'nobody' .*--sort thread" "$tmp/words"

### Times

cat >phases.c <<'EOF2'
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static volatile unsigned sum;
static double now(clockid_t clock)
{
	struct timespec at;
	clock_gettime(clock, &at);
	return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}
static double begun;
/* Waiting uses CPU time, too: not in the functions that are looked for. */
__attribute__((noinline)) void wait_for(double second)
{
	while (now(CLOCK_MONOTONIC) < begun + second + 0.3)
		usleep(1000);
}
/* CPU time in a second that begins a number of seconds after the start. */
#define PHASE(name) \
	__attribute__((noinline)) void name(void) \
	{ \
		for (double end = now(CLOCK_PROCESS_CPUTIME_ID) + 0.08; \
		     now(CLOCK_PROCESS_CPUTIME_ID) < end;) \
			for (int i = 0; i < 20000; i++) sum += (unsigned)i; \
	}
PHASE(early) PHASE(middle) PHASE(late)
int main(void)
{
	begun = now(CLOCK_MONOTONIC);
	if (fork() == 0) {
		wait_for(2);
		late();
		return 0;
	}
	wait_for(0);
	early();
	wait_for(1);
	middle();
	return wait(0) < 0;
}
EOF2
times=
if ${CC:-cc} -O1 -o phases phases.c 2>err; then
	for backend in perf timer; do
		can_use $backend && times="$times $backend"
	done
fi
asked_file=times.pb.gz
for backend in $times; do
	record -q -b "$backend" -F 1000 -g -o times.pb.gz -- ./phases
	same "$backend, times: status" 0 "$status"
	# On a loaded machine a phase may come late, but none comes early.
	asked "$backend, times: what came later is left out" \
		"share('late') == 0 and r['left_out'] > 0" --json --time ,2.2
	asked "$backend, times: what came before is left out" \
		"share('late') > 0 and share('early') < share('late') and
		r['left_out'] > 0" --json --time 2.2,
	asked "$backend, times: a part from the middle" \
		"share('middle') > 0 and share('late') > 0" --json --time 1.2,
	asked "$backend, times: percent of what was measured" \
		"share('late') == 0 and r['left_out'] > 0" --json --time ,40%
	asked "$backend, times: with units" \
		"share('late') == 0 and r['left_out'] > 0" --json \
		--time 0s,2200ms
	asked "$backend, times: all parts make the whole" \
		"share('early') + share('middle') + share('late') > 0.5 and
		r['left_out'] == 0" --json --time 0,
	"$portprof" export -f speedscope -o scope.json times.pb.gz
	check "$backend, times: speedscope has a profile a thread, in order" \
		python3 -c '
import json
scope = json.load(open("scope.json"))
names = [f["name"] for f in scope["shared"]["frames"]]
assert len(scope["profiles"]) >= 2, len(scope["profiles"])
order = [["early", "middle", "late"].index(name) for profile in
         scope["profiles"] for name in [
             names[f] for stack in profile["samples"] for f in stack[-1:]]
         if name in ("early", "middle", "late")]
first = [x for x in order if x < 2]
assert first and first == sorted(first), order
assert all(p["endValue"] == sum(p["weights"]) for p in scope["profiles"])'
done
asked_file=
[ "$times" ] || skip "times" "no backend that can say them works here"
record -q --timeline 0 -o timeless.pb.gz -- ./subject 1
report -i timeless.pb.gz --time 0,1
same "times that were not kept: status" 1 "$status"
has "times that were not kept: what to do" 'unless --timeline is 0' \
	"$tmp/words"
report -i p.pb.gz --time 1
same "times that are none: status" 2 "$status"

### Several files

"$portprof" report -i p.pb.gz --json >one
asked "two files are added up" \
	"r['total_weight'] == 2 * json.load(open('one'))['total_weight'] and
	r['samples'] == 2 * json.load(open('one'))['samples'] and
	r['file'] == 'p.pb.gz + p.pb.gz'" --json -i p.pb.gz
record -q -e page-faults -c 1 -o faults.pb.gz -- ./subject 1
if [ "$status" -eq 0 ]; then
	report -i p.pb.gz -i faults.pb.gz
	same "files of other events: status" 1 "$status"
	has "files of other events: words" \
		"'faults.pb.gz' cannot be added to 'p.pb.gz': .*event" "$tmp/words"
else
	skip "files of other events" "no second event here"
fi
report -i p.pb.gz -i gone.pb.gz
same "one of the files is gone: status" 1 "$status"

### Colour and streams

escape=$(printf '\033')
report -i p.pb.gz
has_not "no colour where there is no terminal" "$escape" "$tmp/report"
same "words are on stderr alone" "" "$(cat "$tmp/words")"
report -i p.pb.gz --color always
has "--color always" "$escape\\[31m *[0-9.]+%$escape\\[0m" "$tmp/report"
CLICOLOR_FORCE=1 "$portprof" report -i p.pb.gz >"$tmp/report"
has "CLICOLOR_FORCE" "$escape\\[31m" "$tmp/report"
NO_COLOR=1 CLICOLOR_FORCE=1 "$portprof" report -i p.pb.gz >"$tmp/report"
has_not "NO_COLOR" "$escape" "$tmp/report"
for form in --json '-x,'; do
	report -i p.pb.gz --color always "$form"
	has_not "never in what programs read: $form" "$escape" "$tmp/report"
done
report -i p.pb.gz --color blue
same "--color blue: status" 2 "$status"
if command -v script >/dev/null && script -qec true /dev/null >/dev/null 2>&1; then
	TERM=xterm script -qec "$portprof report -i p.pb.gz" /dev/null >on
	TERM=xterm NO_COLOR=1 script -qec "$portprof report -i p.pb.gz" \
		/dev/null >off
	has "colour on a terminal" "$escape\\[31m" on
	has_not "unless NO_COLOR is set" "$escape" off
	cat >long.cc <<'EOF2'
#include <ctime>
template <typename A, typename B> struct a_type_with_a_long_name {
	static void spin(A, B) {
		for (std::clock_t end = std::clock() + CLOCKS_PER_SEC / 5;
		     std::clock() < end;)
			for (volatile int i = 0; i < 100000; i = i + 1) {}
	}
};
int main()
{
	using one = a_type_with_a_long_name<int, char>;
	using two = a_type_with_a_long_name<one, one>;
	a_type_with_a_long_name<two, two>::spin(two(), two());
}
EOF2
	if ${CXX:-c++} -O1 -g -fno-inline -o long long.cc 2>/dev/null &&
		record -q -F 1000 -o long.pb.gz -- ./long &&
		[ "$status" -eq 0 ]; then
		TERM=xterm script -qec "stty cols 90; $portprof report -q \
			--color never -n 3 -i long.pb.gz" /dev/null |
			tr -d '\r' >narrow
		has "a long name is cut on a terminal" 'a_type_with.*<>::spin$' narrow
		same "to its width" "" "$(awk 'length > 90' narrow)"
		report -q -n 3 -i long.pb.gz
		has "and whole elsewhere" 'a_type_with.*a_type_with.*a_type_with.*a_type_with' \
			"$tmp/report"
	else
		skip "a long name is cut on a terminal" "no C++ compiler here"
	fi
	# A pipe that keeps its reader waiting: the line comes after a second,
	# and is taken away before the report.
	mkfifo slow
	: >waited
	{ wait_for grep -q reading: waited; cat p.pb.gz; } >slow &
	TERM=xterm NO_COLOR=1 script -qec "$portprof report -q -n 1 \
		-i /dev/stdin <slow" /dev/null >waited
	has "what takes long says so on a terminal" \
		"$escape\\[Kreading: [0-9]+ MiB, [0-9]+ s" waited
	tr '\r' '\n' <waited | sed -n '/self/,$p' >after
	has_not "and is gone before the report" 'reading' after
	{ sleep 1.7; cat p.pb.gz; } >slow &
	report -q -n 1 -i /dev/stdin <slow
	same "and says nothing elsewhere" "" "$(cat "$tmp/words")"
else
	skip "colour on a terminal" "no script(1) here"
fi

### What is said is documented

"$portprof" report -i p.pb.gz --json --sort thread,module,line,address >all
python3 - "$srcdir/doc/man/portprof-report.1" >undocumented <<'EOF2'
import json, re, sys
page = open(sys.argv[1]).read()
page = page[page.index(".Ss JSON"):page.index(".Sh EXIT")]
words = set(re.findall(r"[a-z_]+", page))
def keys(value):
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from keys(item)
    elif isinstance(value, list):
        for item in value:
            yield from keys(item)
found = [key for name in ("one", "all") for key in keys(json.load(open(name)))]
print(*sorted(set(found) - words), sep="\n", end="")
print("" if len(found) > 40 else "too few keys", end="")
EOF2
same "every key of JSON is in the manual page" "" "$(cat undocumented)"
status=0
report --json --html page.html missing.pb.gz
same "two forms at once are refused" 2 "$status"
has "and what they are" 'three forms of a report' "$tmp/words"
tap_end
