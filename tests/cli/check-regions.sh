#!/bin/sh
# SPDX-License-Identifier: MIT
# PORTPROF=regions: tables of a program that opens no regions, and their sum
# over the processes of a job.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3
unset OMPI_COMM_WORLD_RANK PMIX_RANK PMI_RANK MV2_COMM_WORLD_RANK SLURM_PROCID

job=$builddir/tests/cli/region_job
[ -x "$builddir/tests/cli/.libs/region_job" ] &&
	[ -f "$builddir/.libs/libportprof.so" ] &&
	job=$builddir/tests/cli/.libs/region_job
PORTPROF=regions "$job" 1 0 2>words
if ! [ -s "$(echo portprof-regions.*.json)" ]; then
	echo "skip: regions cannot be counted here: $(cat words)"
	exit 77
fi
rm -f portprof-regions.*

# with SETTINGS RANK ARGUMENT...: the job
with() {
	with_settings=$1
	with_rank=$2
	shift 2
	(
		PORTPROF=$with_settings
		export PORTPROF
		if [ "$with_rank" != - ]; then
			PMI_RANK=$with_rank
			export PMI_RANK
		fi
		exec "$job" "$@"
	) 2>"$tmp/words"
	status=$?
}

# holds WORDS FILE EXPRESSION: t is the table of the file, rows(NAME) its rows
holds() {
	check "$1" python3 -c '
import json, sys
t = json.load(open(sys.argv[1]))
def rows(name):
    return [r for r in t["regions"] if r["region"] == name]
sys.exit(not eval(sys.argv[2]))' "$2" "$3"
}
files() {
	find . -name "$1" | wc -l | tr -d ' '
}

### One process

with regions - 5 3
same "the program: status" 0 "$status"
same "the program: nothing is said" "" "$(cat words)"
same "one table" 1 "$(files 'portprof-regions.*.json')"
table=$(echo portprof-regions.*.json)
same "its name has the process" 1 \
	"$(python3 -c 'import json, sys; t = json.load(open(sys.argv[1]))
print(int(sys.argv[1] == "portprof-regions.%s.%d.json" % (t["host"], t["pid"])))' "$table")"
holds "no rank" "$table" 't["rank"] is None'
holds "a row for each thread" "$table" \
	'len({r["thread"] for r in rows("turn")}) == 3 == len(rows("turn"))'
holds "the calls of each" "$table" \
	'[r["calls"] for r in rows("turn")] == [5, 5, 5]'
holds "names are whole" "$table" 'len(rows("a \"name\"\n of two lines")) == 3'
holds "each has counted" "$table" \
	'all(r["counts"][0]["value"] > 0 for r in rows("turn"))'
"$portprof" report "$table" >printed 2>words
same "it is not a profile: status" 1 $?
has "it is not a profile: what shows it" "a table of regions.*portprof merge $table" \
	words
rm -f portprof-regions.*

with 'regions;output=l.json' - 5 3 label
holds "by labels" l.json \
	'sorted(r["labels"].get("kind") for r in rows("turn")) == ["\"odd\"\n", "even", "even"]'
holds "without any" l.json '[r["labels"] for r in rows("whole")] == [{}]'
with 'regions=text;output=l.txt' - 5 3 label
has "by labels: text" '  turn [{]kind=even[}]$' l.txt
has_not "and none of control" 'odd"$' l.txt
"$portprof" merge -j l.json >sum 2>words
same "merge adds labels up" 15 "$(python3 -c '
import json
print(*[r["sum"] for r in json.load(open("sum"))["regions"]
        if r["region"] == "turn" and r["event"] == "calls"])' 2>&1)"
with 'regions;output=o.json' - 1 1 exit
holds "what is open at exit is ended" o.json 'rows("whole")[0]["calls"] == 1'
with 'regions;output=k.json' - 1 1 kill
check "the program was killed" [ "$status" -gt 128 ]
same "nothing is left of a process that is killed" 0 "$(files 'k.json*')"
with 'regions;output=c.json' - 1 1 close
holds "closing writes, too" c.json 'rows("whole")[0]["calls"] == 1'
with 'regions;output=l.json' - 1 1 late >answer
same "a program that opens regions too late is refused: E_BUSY" -4 "$(cat answer)"
holds "and the table is whole" l.json 'rows("whole")[0]["calls"] == 1'
with 'output=n.json' - 1 1
same "other settings ask for no table" 0 "$(files 'n.json*')"
with 'regions=text;output=t.txt' - 2 1
same "text: status" 0 "$status"
has "text: names are for a terminal" '  a "name"\\x0a of two lines$' t.txt
has "text: calls" '^ *[0-9]+ +2 .* turn$' t.txt

### A forked child

with 'regions;output=f.json' - 3 1 fork
same "a child: status" 0 "$status"
same "a child has a table of its own" 2 "$(files 'f.json*')"
holds "the parent's has its own calls" f.json \
	'rows("turn")[0]["calls"] == 3 and rows("whole")[0]["calls"] == 1'
holds "the child's, too" "$(echo f.json.*)" \
	'rows("turn")[0]["calls"] == 1 and not rows("whole")'

### What cannot be

with regions=csv - 1 1
same "a wrong format: the program runs on" 0 "$status"
has "a wrong format: words" "PORTPROF=regions: 'csv'.*regions=json" words
with 'regions;event=nonsense' - 1 1
same "a wrong event: the program runs on" 0 "$status"
has "a wrong event: words" "nothing is counted: .*'nonsense'" words
with 'regions;frequncy=3' - 1 1
has "a wrong key: words" 'nothing is counted: .*frequncy' words
with 'regions;output=none/t.json' - 1 1
same "no folder: the program's status" 0 "$status"
has "no folder: words" "no table is written: .*none" words
same "no other file" 0 "$(files 'portprof-regions.*')"

### A job of four

for rank in 2 0 3 1; do
	with 'regions;output=job.json' $rank $((rank + 1)) 2
	same "rank $rank: status" 0 "$status"
done
same "each rank has its table" 4 "$(files 'job.json.[0-3]')"
same "no two have one" 4 "$(files 'job.json*')"
"$portprof" merge job.json.* >sum 2>words
same "merge: status" 0 $?
has "merge: the head" '^4 processes on 1 host$' sum
has "merge: sum, min, mean, max and imbalance of calls" \
	'^turn +calls +4 +20 +2 +0 +5\.0 +8 +3 +60\.0 %$' sum
"$portprof" merge -j -o sum.json job.json.? 2>words
same "merge -j: status" 0 $?
check "merge -j: the sums are those of the files" python3 -c '
import json, sys
s = json.load(open("sum.json"))
ranks = [json.load(open("job.json.%d" % i)) for i in range(4)]
if [p["rank"] for p in s["processes"]] != [0, 1, 2, 3]:
    sys.exit("ranks")
for row in s["regions"]:
    values = []
    for t in ranks:
        mine = [r for r in t["regions"] if r["region"] == row["region"]]
        if row["event"] == "calls":
            values.append(sum(r["calls"] for r in mine))
        else:
            values.append(sum(r["counts"][0]["value"] for r in mine))
    mean = sum(values) / 4
    if row["values"] != values or row["sum"] != sum(values) or \
       row["min"] != min(values) or row["max"] != max(values) or \
       values[row["min_rank"]] != min(values) or \
       values[row["max_rank"]] != max(values) or \
       abs(row["mean"] - mean) > 1e-6 * mean or \
       abs(row["imbalance_percent"] - (max(values) / mean - 1) * 100) > 1e-3:
        sys.exit(str(row))
sys.exit(len(s["regions"]) != 6)'
with 'regions;output=%h.rank%r.%%.json' 7 1 1
check "a name with host and rank" [ -s "$(uname -n).rank7.%.json" ]

# a rank without the region counts as 0
with 'regions;output=idle.json' 4 0 1
"$portprof" merge job.json.? idle.json.4 >sum 2>words
has "a rank without a region has 0 of it" \
	'^turn +calls +4 +20 +0 +4 +4\.0 +8 +3 +100\.0 %$' sum

# What a preset stands for is computed of the sums: 400 / 350, and not the mean.
# table RANK INSTRUCTIONS CYCLES
table() {
	cat <<EOF
{"type": "portprof regions", "schema": 1, "host": "h", "pid": $1, "rank": $1,
 "opened_ns": 1, "refused_threads": 0, "refusal": "",
 "events": [{"event": "task-clock", "unit": "ns"},
  {"event": "instructions", "unit": "count"}, {"event": "cycles", "unit": "count"}],
 "metrics": [{"metric": "IPC", "unit": "instructions per cycle", "event": 1,
   "of": [0, 1, 0], "by": [0, 0, 1]},
  {"metric": "half", "unit": "", "event": 0, "of": [0.5e0, -1, 0], "by": [0, 0, 0]}],
 "regions": [{"region": "turn", "thread": 1, "calls": 1, "counts": [
  {"value": 1000, "status": "ok"}, {"value": $2, "status": "ok"},
  {"value": $3, "status": "ok"}], "metrics": [null, null]}]}
EOF
}
table 0 100 50 >ipc.0
table 1 300 300 >ipc.1
table 2 null 700 >ipc.2
"$portprof" merge ipc.0 ipc.1 >sum 2>words
same "metrics: status" 0 $?
has "metrics: of all, the least and the most" \
	'^ +IPC +2 +1\.143 +1\.000 +1 +2\.000 +0$' sum
has "metrics: without a divisor" '^ +half +2 +600\.000 +200\.000 +1 +400\.000 +0$' sum
"$portprof" merge -j ipc.0 ipc.1 ipc.2 >sum.json 2>words
check "metrics: what one could not count is unknown" python3 -c '
import json
ipc, half = json.load(open("sum.json"))["metrics"]
assert ipc["metric"] == "IPC" and ipc["value"] is None
assert ipc["values"] == [2, 1, None] and half["values"][:2] == [400, 200]'
# Counters that had to share: a process's counts are scaled by all of its time, as
# portprof_regions_read does, and not each row by its own.
# merged RAW ENABLED RUNNING VALUE STATUS ...: the sum of such rows
merged() {
	python3 - "$@" >shared.json <<'EOF'
import json, sys
keys = ("raw", "enabled_ns", "running_ns", "value")
values = sys.argv[1:]
rows = []
while values:
    count = {key: json.loads(value) for key, value in zip(keys, values)}
    count["status"] = values[4]
    rows.append({"region": "turn", "thread": len(rows), "labels": {}, "calls": 1,
                 "counts": [count], "metrics": []})
    values = values[5:]
print(json.dumps({"type": "portprof regions", "schema": 1, "host": "h", "pid": 1,
                  "rank": None, "opened_ns": 1, "refused_threads": 0, "refusal": "",
                  "events": [{"event": "cycles", "unit": "count"}], "metrics": [],
                  "regions": rows}))
EOF
	"$portprof" merge -j shared.json | python3 -c '
import json, sys
print(*[r.get("sum") for r in json.load(sys.stdin)["regions"] if r["event"] == "cycles"])'
}
same "shared counters are scaled together" 457 \
	"$(merged 100 10 5 200 scaled 300 30 30 300 ok)"
same "a row that never ran has its share" 400 \
	"$(merged 0 10 0 null "never ran" 300 30 30 300 ok)"
same "of rows that never ran nothing is known" None \
	"$(merged 0 10 0 null "never ran" 0 30 0 null "never ran")"
same "nor where a counter was lost" None \
	"$(merged 5 10 10 null "lost its counter" 300 30 30 300 ok)"
# names in a table are anybody's
sed 's/"task-clock"/"\\u001b[2Jclock"/; s/"half"/"\\u001b[2Jhalf"/; s/"turn"/"gr\\u00f6\\u00dfe"/' \
	ipc.0 >others.json
"$portprof" merge others.json >sum 2>words
same "names of others: status" 0 $?
has_not "no name of a table steers a terminal" "$(printf '\033')" sum
has "they are written out" '\\x1b\[2Jclock,ns .*[^0-9]1 ' sum
check "a name of any letters fills its column" python3 -c '
head, row = open("sum", encoding="utf-8").read().splitlines()[2:4]
end = head.index("processes") + len("processes")
assert row.startswith("gr\u00f6\u00dfe ") and row[:end].endswith(" 1"), (head, row)'
sed 's/"of": \[0, 1, 0\], "by": \[0, 0, 1\]/"other": 1/' ipc.1 >bare.json
"$portprof" merge bare.json ipc.0 >sum 2>words
same "a metric of which nobody says what it is is passed by" 0 \
	"$(grep -c IPC sum)"
sed 's/"of": \[0, 1, 0\]/"of": [0, 1]/' ipc.1 >short.json
"$portprof" merge ipc.0 short.json >sum 2>words
has "a metric that is not of all events" "'short.json' is left out: .{10}" words

### Files that are none

head -c 600 job.json.0 >cut.json
sed 's/"schema": 1/"schema": 2/' job.json.1 >later.json
sed 's/"event": "[^"]*"/"event": "other"/' job.json.1 >other.json
sed 's/"counts": \[{/"counts": [{}, {/' job.json.1 >more.json
echo '{"a": [[[[[[[[[[[[[[[[[[[[[[[[' >deep.json
cp job.json.0 twin.json
printf '{"a": "\000"}' >zero.json
"$portprof" merge job.json.0 cut.json later.json other.json more.json \
	deep.json twin.json zero.json missing.json . job.json.1 >sum 2>words
same "bad files: status" 1 $?
has "the others are summed" '^turn +calls +2 +6 ' sum
for file in cut later other more deep twin zero missing; do
	has "$file.json is named" "'$file.json' is left out: .{10}" words
done
same "and counted" 1 "$(grep -c '^portprof: 9 files were left out$' words)"
"$portprof" merge -j cut.json >sum 2>words
same "nothing to merge: status" 1 $?
same "and nothing is printed" "" "$(cat sum)"
tap_end
