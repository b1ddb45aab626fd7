#!/bin/sh
# SPDX-License-Identifier: MIT
# portprof list shows what is there, and says of each event whether it can be
# used; --explain prints what the kernel would be asked for.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3

# list ARGUMENT...: to $tmp/list, words to $tmp/words, the status to $status
list() {
	"$portprof" list "$@" >"$tmp/list" 2>"$tmp/words"
	status=$?
}

# holds WORDS EXPRESSION: about the JSON in $tmp/list; r is the object, e its
# events by name
holds() {
	if python3 -c '
import json, sys
r = json.load(open(sys.argv[1], encoding="utf-8"))
e = {x["event"]: x for x in r.get("events", [])}
sys.exit(not eval(sys.argv[2]))
' "$tmp/list" "$2" 2>"$tmp/trace"; then
		ok "$1"
	else
		not_ok "$1"
		echo "# fails: $2"
		tail -n 1 "$tmp/trace" | sed 's/^/# /'
		head -n 20 "$tmp/list" | cut -c 1-300 | sed 's/^/# > /'
	fi
}

### The command line

list --help
same "--help: status" 0 "$status"
same "--help is not too wide" "" "$(awk 'length > 79' "$tmp/list")"
refused() {
	refused_words=$1 refused_status=$2 refused_pattern=$3
	shift 3
	list "$@"
	same "$refused_words: status" "$refused_status" "$status"
	has "$refused_words: words" "$refused_pattern" "$tmp/words"
	same "$refused_words: nothing is printed" "" "$(cat "$tmp/list")"
}
refused "an unknown option" 2 "Try 'portprof list --help'" --nonsense
refused "two patterns" 2 "'b'" a b
refused "a pattern and an event" 2 "--explain.*pattern" --explain cycles a
refused "an unknown backend" 1 "did you mean perf" -b prf
refused "an unknown colour" 2 "not auto, always or never" --color=blue
refused "a pattern that fits nothing" 1 "zzzz" zzzz
refused "a name that is nearly right" 1 "did you mean page-faults" page-fautls
refused "what nothing fits" 1 "^portprof: nothing matches 'zzz'; portprof list -a " \
	zzz
refused "what nearly fits" 1 \
	"^portprof: nothing matches 'page-fautls'; did you mean page-faults" \
	page-fautls
refused "an event that means nothing" 1 "did you mean page-faults" \
	--explain page-fautls
refused "a malformed event" 1 "column 8" --explain cycles:u=0:k=0
if [ -w /dev/full ]; then
	"$portprof" list >/dev/full 2>"$tmp/words"
	same "a full disk: status" 1 $?
	has "a full disk: why" 'could not be written: No space' "$tmp/words"
fi

### What any backend has

list -b itimer
has "itimer: CPU time" '^  task-clock' "$tmp/list"
has_not "itimer: nothing else" 'page-faults' "$tmp/list"

can_use perf || { skip "the events of perf" "perf is not here"; tap_end; }

list
same "all: status" 0 "$status"
for name in task-clock page-faults context-switches; do
	has "$name is shown" "^  $name " "$tmp/list"
done
has "other names too" 'also faults' "$tmp/list"
has_not "no line is too long" '.{80}' "$tmp/list"
list -j
holds "JSON: schema" 'r["schema"] == 1'
holds "JSON: every event has its keys" \
	'all({"event", "also", "source", "pmu", "means", "is_mask", "needs_mask", "usable"} <= set(x) for x in r["events"])'
holds "JSON: what is refused says why, what is not does not" \
	'all((x["usable"] is False) == ("why" in x) for x in r["events"])'
holds "JSON: CPU time can be used" 'e["task-clock"]["usable"] is True'
holds "JSON: names are there once" \
	'len([x for x in r["events"] if x["event"] == "cycles"]) == 1'
holds "few tracepoints are opened" \
	'sum(x["source"] == "tracepoint" and x["usable"] is not None for x in r["events"]) <= 32'
python3 -c '
import json, sys
for x in json.load(open(sys.argv[1]))["events"]:
    if x["usable"] and x["source"] in ("software", "system", "hardware"):
        print(x["event"])' "$tmp/list" >usable
refused=
while read -r event; do
	"$portprof" stat -o /dev/null -e "$event" -- true 2>"$tmp/words" &&
		continue
	# a package's PMU counts no process by itself
	grep -q 'portprof stat -a' "$tmp/words" &&
		"$portprof" stat -a -o /dev/null -e "$event" -- true ||
		refused="$refused $event"
done <usable
same "what can be used is counted by portprof stat" "" "$refused"

### Patterns

list 'L1-*-load*'
has "a glob: what fits" '^  L1-dcache-load-misses ' "$tmp/list"
has_not "a glob: what does not" 'stores' "$tmp/list"
list FAULT
has "a part of a name, in any case" '^  minor-faults ' "$tmp/list"
has_not "and nothing else" '^  task-clock' "$tmp/list"
list cs
has "another name" '^  context-switches ' "$tmp/list"
list 'frobnicat'
same "what nobody has" 1 "$status"
list 'predicted wrongly'
has "a word of the meaning" '^  branch-misses ' "$tmp/list"

### What strings mean: by the numbers of linux/perf_event.h

# means STRING TYPE CONFIG [EXPRESSION]
means() {
	list -j --explain "$1"
	holds "$1 is type $2, config $3" \
		"(r['encoding'] + ',').startswith('type %d, config 0x%x,' % ($2, $3)) and (${4:-True})"
}
means cpu-clock 1 0 'r["unit"] == "ns" and r["period"] == r["rate_hz"] == 0'
means task-clock:freq=250 1 1 'r["rate_hz"] == 250'
means page-faults:u@100 1 2 \
	'r["period"] == 100 and r["modes"]["user"] and not r["modes"]["kernel"]'
means cs 1 3 'r["canonical"] == "context-switches"'
means cycles:k 0 0 'not r["modes"]["user"] and r["modes"]["kernel"]'
means instructions:precise=2:pinned 0 1 \
	'"precise 2, pinned" in r["encoding"]'
means L1-dcache-load-misses 3 0x10000
means dTLB-store-misses 3 0x10103
means r1a8:u 4 0x1a8 'r["modes"]["user"]'
list --explain cycles:u
has "for people: the encoding" 'encoding +type 0, config 0x0' "$tmp/list"
has "for people: who can measure it" '^  by perf ' "$tmp/list"
has "for people: why others cannot" '^  by itimer +.cycles. is not CPU time' \
	"$tmp/list"
means mem:0x1000/4:w 5 0 '"config1 0x1000, config2 0x4, bp_type 2" in r["encoding"]'
means mem:0x1000:x 5 0 '"bp_type 4" in r["encoding"]'
means task-clock:cpu=0 1 1 'r["cpus"] == "0"'
means PAPI_TOT_INS 0 1 'r["canonical"] == "instructions"'
list IPC
same "a preset: status" 0 "$status"
has "a preset by its name" '^  IPC  *instructions per cycle' "$tmp/list"
has_not "a preset by its name: no other" 'CPI' "$tmp/list"
list -j
holds "presets, and whether they can be counted" \
	'{"IPC", "CPI", "miss-rate"} <= {p["preset"] for p in r["presets"]} and all(p["usable"] != ("why" in p) for p in r["presets"])'
holds "a preset comes once" \
	'len({p["preset"] for p in r["presets"]}) == len(r["presets"])'
list --explain IPC:u
has "a preset: its formula" 'formula +instructions / cycles' "$tmp/list"
has "and what its events mean" 'encoding +type 0, config 0x1' "$tmp/list"
list -j --explain branch-miss-rate
holds "the same for programs" \
	'(r["preset"] == "branch-miss-rate" and
	r["formulas"] == [{"name": "branch-miss-rate", "unit": "% of branches",
		"formula": "branch-misses / branches * 100"}] and
	list(e) == ["branch-misses", "branches"])'
list --explain FLOPS
tr -s '\n ' '  ' <"$tmp/list" >"$tmp/joined"
has "a preset of this machine's events" 'formula \(?[A-Z].* / task-clock \* 1000000000' \
	"$tmp/joined"
if [ -d /sys/bus/event_source/devices/uprobe ]; then
	list 'uprobe:*'
	has "forms of places" '^  uprobe:FILE:SYMBOL' "$tmp/list"
else
	skip "forms of places" "the kernel does not tell here of probes"
fi
id=$(cat /sys/kernel/tracing/events/sched/sched_switch/id 2>/dev/null)
if [ -n "$id" ]; then
	means sched:sched_switch 2 "$id"
	list 'sched:sched_*'
	has "tracepoints by a glob" '^  sched:sched_switch$' "$tmp/list"
	"$portprof" stat -x , -e sched:sched_process_exec -o "$tmp/counts" -- true \
		2>"$tmp/words"
	has "and they count" '^1,,sched:sched_process_exec,' "$tmp/counts"
	"$portprof" stat -x , -e 'sched:sched_process_exec/pid>0 && old_pid>0/' \
		-e 'sched:sched_process_exec/filename=="a, b"/' \
		-o "$tmp/counts" -- true 2>"$tmp/words"
	has "a filter that is true" '^1,,sched:sched_process_exec/pid' "$tmp/counts"
	has "and one that is not" '^0,,' "$tmp/counts"
	list -j --explain 'sched:sched_switch/no_field==1/'
	has "a field that there is not" 'fields: prev_comm .text., ' "$tmp/list"
	list -j --explain sched:sched_switch
	has "all fields of a tracepoint" '"means":.* next_pid, next_prio' \
		"$tmp/list"
else
	skip "tracepoints" "this user may not see them"
fi
tap_end
