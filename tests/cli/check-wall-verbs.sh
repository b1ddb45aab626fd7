#!/bin/sh
# SPDX-License-Identifier: MIT
# What other verbs than report make of a profile of waits: export, diff, merge,
# annotate.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3
for kind in wall idle other cpu; do
	python3 "$srcdir/tests/cli/wall_profile.py" "$kind" "$kind.pb.gz" || exit 99
done

# run VERB ARGUMENT...: what it prints in $tmp/printed, words in $tmp/words
run() {
	"$portprof" "$@" >"$tmp/printed" 2>"$tmp/words"
	status=$?
}

### Export

run export -q -f folded wall.pb.gz
same "folded: running time, as always" "main;work 130000000" "$(cat printed)"
run export -q -f folded --state blocked,ready wall.pb.gz
same "folded: of states, what was waited for is the innermost frame" \
	"(wait not seen) 30000000
main;commit;pthread_mutex_lock;(lock) 200000000
main;pause_a_bit;nanosleep;(sleep) 1600000000
main;work;(ready) 20000000
start_thread;append_log;pthread_mutex_lock;(lock) 3920000000
start_thread;flush_log;fsync;(disk) 200000000" "$(cat printed)"
run export -q -f folded --wait disk wall.pb.gz
same "folded: of one kind" "start_thread;flush_log;fsync;(disk) 200000000" "$(cat printed)"
run export -f folded --state blocked idle.pb.gz
has_not "folded: no idle waits" 'idle' "$tmp/printed"
has "folded: words say so" '8\.000 s.*--idle' "$tmp/words"
run export -f folded --state blocked --idle idle.pb.gz
has "folded: they are there on demand" 'pthread_cond_wait;\(idle\) 8000000000' "$tmp/printed"
has_not "folded: and no words" '--idle' "$tmp/words"
run export -q -f callgrind --state running,blocked wall.pb.gz
has "callgrind: their sum" '^summary: 6080000000$' "$tmp/printed"
run export -q -f perf-script --state blocked wall.pb.gz
same "perf-script: each sample" 82 "$(grep -c 'blocked-time: *$' printed)"
run export -q -f speedscope wall.pb.gz
python3 - printed >sums <<'EOF'
import json, sys
file = json.load(open(sys.argv[1]))
names = [frame["name"] for frame in file["shared"]["frames"]]
for p in file["profiles"]:
    print(p["name"], sum(p["weights"]),
          sorted({names[stack[-1]] for stack in p["samples"]}))
EOF
same "speedscope: all of a thread's time, and what it waited for" \
	"flusher/102: wall-time 200000000 ['(disk)']
server/100: wall-time 1950000000 ['(lock)', '(ready)', '(sleep)', 'work']
worker/101: wall-time 3950000000 ['(lock)', '(wait not seen)']" "$(sort sums)"
run export -q -f speedscope --state ready,blocked wall.pb.gz
same "speedscope: or of some states" 5970000000 \
	"$(python3 -c 'import json, sys
print(sum(sum(p["weights"]) for p in json.load(open("printed"))["profiles"]))')"
run export -q -f pprof -o out.pb.gz wall.pb.gz
same "pprof: status" 0 "$status"
same "pprof: a sample type for each" \
	"samples samples:ready-time samples:blocked-time blocked-time ready-time cpu" \
	"$(python3 - out.pb.gz "$srcdir/tests/cli" <<'EOF'
import gzip, sys
sys.path.insert(0, sys.argv[2])
from pprof import first, message
whole = message(gzip.decompress(open(sys.argv[1], "rb").read()))
print(*[whole[6][first(message(t), 1)].decode() for t in whole[1]])
EOF
)"
"$portprof" report -i out.pb.gz -s wait,on,holder >again 2>&1
"$portprof" report -i wall.pb.gz -s wait,on,holder >once 2>&1
same "pprof: the life and the waits are in it" "$(grep -v '\.pb\.gz' once)" \
	"$(grep -v '\.pb\.gz' again)"
run export -q -f pprof -o out.pb.gz --state blocked wall.pb.gz
same "pprof: it has all of them: status" 2 "$status"
if grep -q 'define PPI_FILE' "$builddir/config.h"; then
	run export -q -f otlp -o out.otlp idle.pb.gz
	python3 "$srcdir/tests/cli/otlp.py" out.otlp >otlp.json 2>words
	check "OTLP: each is a profile" python3 -c '
import json
text = json.dumps(json.load(open("otlp.json")))
for name in "task-clock", "ready-time", "blocked-time":
    assert name in text, name
'
fi
run export -f folded --state blocked cpu.pb.gz
same "no waits: status" 1 "$status"
has "no waits: how to record them" 'record --wall' "$tmp/words"

### Diff

run diff wall.pb.gz other.pb.gz
has "diff: lives of both" 'life +before: 6\.10 s of 3 threads' "$tmp/printed"
has "diff: lives of both" '  after: 7\.10 s .*1\.2 disk' "$tmp/printed"
has "diff: of wall time" '\+1\.000 s .*\+500\.0 % .* fsync' "$tmp/printed"
run diff -q -s wait wall.pb.gz other.pb.gz
same "diff: what is waited for" "0.200 s 1.200 s +1.000 s +500.0 % disk" \
	"$(awk '/disk/ { print $1, $2, $3, $4, $5, $6, $9, $10, $11 }' printed)"
run diff --wait lock idle.pb.gz other.pb.gz
has "diff: of one kind, which is the total" 'total +\+0\.000 s' "$tmp/printed"
run diff -q idle.pb.gz other.pb.gz
has_not "diff: idle waits are not compared" 'pthread_cond_wait' "$tmp/printed"
run diff -j -s wait wall.pb.gz other.pb.gz
same "diff: JSON" "5950000000 6950000000 disk" "$(python3 -c '
import json
d = json.load(open("printed"))
print(d["before"]["life"]["blocked_ns"], d["after"]["life"]["blocked_ns"],
      d["rows"][0]["wait"])')"
run diff -e task-clock wall.pb.gz cpu.pb.gz
same "diff: CPU time alone" 0 "$status"
run diff wall.pb.gz cpu.pb.gz
same "diff: waits and none" 1 "$status"

### Merge

run merge -o both.pb.gz wall.pb.gz idle.pb.gz
"$portprof" report -i both.pb.gz >text 2>&1
same "merge: lives are added up" \
	"20.20 s of 8 threads: 0.26 s running, 0.04 s ready, 19.90 s blocked (8.2 lock, 8.0 idle, 3.2 sleep, 0.4 disk, 0.1 not seen)" \
	"$(sed -n 's/^  life  *//p' text)"
"$portprof" report wall.pb.gz idle.pb.gz >text 2>&1
has "so are those of several files" '20\.20 s of 8 threads' "$tmp/text"

### Annotate

run annotate commit wall.pb.gz --wait lock
has "annotate: where a function waits" '^commit of server: 200\.000 ms ' "$tmp/printed"
run annotate commit wall.pb.gz
same "annotate: running time does not know it" 1 "$status"
run annotate main wall.pb.gz --state blocked,ready
has "annotate: states" '^main of server: 1\.820 s ' "$tmp/printed"

tap_end
