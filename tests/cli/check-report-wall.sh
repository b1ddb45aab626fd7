#!/bin/sh
# SPDX-License-Identifier: MIT
# portprof report on profiles of waits: one line for the life of all threads, wall
# time that closes, what was waited for, and who held it.
# Expressions of awk stand in single quotes.
# shellcheck disable=SC2016
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3
for kind in wall idle other cpu busy latency times held plain unknown evil; do
	python3 "$srcdir/tests/cli/wall_profile.py" "$kind" "$kind.pb.gz" || exit 99
done

# weight FILE OPTION... -- CONDITION: the sum of `self`, in ms, of the rows of CSV that
# fit an expression of awk on its fields by name.
weight() {
	file=$1
	shift
	options=
	while [ "$1" != -- ]; do
		options="$options $1"
		shift
	done
	# shellcheck disable=SC2086
	"$portprof" report -q -x '|' $options "$file" | ${AWK:-awk} -F'|' "
		NR == 1 { for (i = 1; i <= NF; i++) f[\$i] = i; next }
		$2 { sum += \$f[\"self\"] }
		END { printf \"%d\", sum / 1e6 }"
}

### The first line

report -i wall.pb.gz
same "status" 0 "$status"
same "the first line below the title is the life of the threads" \
	"6.10 s of 3 threads: 0.13 s running, 0.02 s ready, 5.95 s blocked (4.1 lock, 1.6 sleep, 0.2 disk)" \
	"$(sed -n '2s/^  life  *//p' "$tmp/report")"
has "how much was seen" '^  waits .* 99\.2 %.* 0\.3 % .*estimate.* 0\.5 % ' "$tmp/report"
has "labels of waits are keys, not labels to be asked for" 'wait +module +function' "$tmp/report"
has_not "so they are not listed" '^  labels' "$tmp/report"
has_not "what was not seen is no chain that is cut" 'cut early' "$tmp/report"
has "what was not seen is a row" ' 0\.030 s +0\.5% .*\(wait not seen\)' "$tmp/report"
has_not "waits are not more than was charged" 'more than the system charged' "$tmp/report"
"$portprof" report -i wall.pb.gz >"$tmp/report"
has "the short header has it, too" '^  waits .* 99\.2 %' "$tmp/report"
has "and the life" '^  life +6\.10 s of 3 threads' "$tmp/report"
"$portprof" report -i times.pb.gz >"$tmp/report"
has_not "waits are not doubted for want of samples" 'a share of 10' "$tmp/report"
report -i plain.pb.gz
has_not "no life without its sums" '^  life' "$tmp/report"
report -i cpu.pb.gz
has_not "nor where waits were not measured" '^  life' "$tmp/report"

### Wall time closes

same "all states make the life" 6100 "$(weight wall.pb.gz -- 1)"
same "without an account, too" 6100 "$(weight plain.pb.gz -- 1)"
same "what the kernel did not tell is a row" "6400 300" \
	"$(weight unknown.pb.gz -- 1) $(weight unknown.pb.gz -- \
	'$f["function"] == "(unknown)"')"
same "but of no state" 5950 "$(weight unknown.pb.gz --state blocked -- 1)"
report -i unknown.pb.gz
has "and part of the life" '^  life +6\.40 s .*, 0\.30 s unknown$' "$tmp/report"
same "running" 130 "$(weight wall.pb.gz --state running -- 1)"
same "ready" 20 "$(weight wall.pb.gz --state ready -- 1)"
same "blocked" 5950 "$(weight wall.pb.gz --state blocked -- 1)"
same "two of them" 150 "$(weight wall.pb.gz --state ready,running -- 1)"
same "each in its rows" 5950 \
	"$(weight wall.pb.gz -s state -- '$f["state"] == "blocked"')"
same "running has no label" 130 \
	"$(weight wall.pb.gz -s state -- '$f["state"] == "running"')"
same "an event alone" 5950 "$(weight wall.pb.gz -e blocked-time -- 1)"
report -q -i wall.pb.gz -e task-clock
has_not "an event that ran has no waits" ' wait ' "$tmp/report"

### What was waited for

same "locks" 4120 "$(weight wall.pb.gz -s wait -- '$f["wait"] == "lock"')"
same "disks" 200 "$(weight wall.pb.gz -s wait,on -- \
	'$f["wait"] == "disk" && $f["on"] == "/var/log/server"')"
same "--wait keeps one kind" 200 \
	"$(weight wall.pb.gz --wait disk -- '$f["function"] == "fsync"')"
same "and says what it leaves out" 5750 \
	"$(weight wall.pb.gz --wait disk -- '$f["function"] == "(left out)"')"
same "or several" 1800 \
	"$(weight wall.pb.gz --wait disk,sleep -- '$f["function"] != "(left out)"')"
report -q -i wall.pb.gz --wait disc
same "a kind that there is not is refused" 1 "$status"
has "with what is like it" "disc.*disk" "$tmp/words"
report -q -i wall.pb.gz --state sleeping
same "a state that there is not is wrong" 2 "$status"
report -q -i cpu.pb.gz --state blocked
same "no blocked time: status" 1 "$status"
has "and how to record it" 'record --wall' "$tmp/words"
report -q -i wall.pb.gz --state blocked -e task-clock
same "an event and states are two things" 2 "$status"

### Idle waits

same "idle waits are in no row" 6100 \
	"$(weight idle.pb.gz -- '$f["function"] != "(idle waits)"')"
same "their sum is one" 8000 \
	"$(weight idle.pb.gz -- '$f["function"] == "(idle waits)"')"
report -i idle.pb.gz
has "they are in no share" ' 67\.5% .* lock +libc' "$tmp/report"
has "and how to see them" 'idle waits; --idle' "$tmp/report"
has "the life has them" 'life .* 14\.10 s .*8\.0 idle' "$tmp/report"
same "--idle shows them" 8000 \
	"$(weight idle.pb.gz --idle -- '$f["wait"] == "idle"')"
same "--wait idle does, too" 8000 \
	"$(weight idle.pb.gz --wait idle -- '$f["wait"] == "idle"')"

### Who held it

report -q -i wall.pb.gz --holders
same "holders: status" 0 "$status"
has "for how long" '^ +3\.900 s +65\.5% +39 +flush_log in thread flusher$' "$tmp/report"
has "who waited" ' 3\.900 s .* 39 +append_log in thread worker, futex 0x7f01$' "$tmp/report"
has "locks without a known holder" ' 0\.220 s .* 6 +\(nobody' "$tmp/report"
has_not "other waits are not of locks" 'pause_a_bit|fsync' "$tmp/report"
report -q -i wall.pb.gz --holders -s thread
same "it is a table of its own" 2 "$status"
report -q -i cpu.pb.gz --holders
same "nobody looked: status" 1 "$status"

# where each holder was when somebody began to wait, and while that wait lasts
report -q -i held.pb.gz --holders
has "the first place of a holder" '^ +1\.000 s +32\.7% +1 +flush_log in thread flusher \(102\)$' "$tmp/report"
has "with its callers" '^ +at fsync < flush_log < start_thread$' "$tmp/report"
has "and its second" '^ +1\.020 s .* 1 +rotate_log in thread flusher \(102\)$' "$tmp/report"
has "and where nobody saw it" '^ +1\.040 s .* 1 +thread flusher \(102\)$' "$tmp/report"
same "where it was has no weight" 3060 "$(weight held.pb.gz -- 1)"
"$portprof" merge -o merged.pb.gz held.pb.gz
"$portprof" report -q -i merged.pb.gz --holders >"$tmp/merged"
same "merge keeps it" "$(cat "$tmp/report")" "$(cat "$tmp/merged")"
report -i held.pb.gz
has_not "it is a key, not a label to be asked for" '^  labels' "$tmp/report"
report -j -i held.pb.gz --holders
same "JSON: the chain of the place" \
	"['rotate_log', 'start_thread'] ['fsync', 'flush_log', 'start_thread'] []" \
	"$(python3 -c 'import json, sys
holders = json.load(open(sys.argv[1]))["holders"]
print(*(next(x["chain"] for x in holders if x["holder"].startswith(name))
        for name in ("rotate", "flush_log", "thread")))' "$tmp/report")"

### JSON

report -j -i idle.pb.gz --holders
python3 - "$tmp/report" >json <<'EOF'
import json, sys
r = json.load(open(sys.argv[1]))
life = r["life"]
print(life["threads"], life["lifetime_ns"], life["running_ns"], life["ready_ns"],
      life["blocked_ns"], life["unknown_ns"])
print(sum(life["kinds"].values()) == life["blocked_ns"], life["kinds"]["lock"],
      life["kinds"]["idle"], life["kinds"]["not seen"])
print(r["states"], r["idle_waits_ns"])
holder = r["holders"][0]
print(holder["holder"], holder["waited_ns"], holder["waits"],
      holder["waiters"][0]["function"], holder["waiters"][0]["on"])
EOF
same "JSON: the life" "5 14100000000 130000000 20000000 13950000000 0
True 4120000000 8000000000 30000000
['blocked'] 8000000000
flush_log in thread flusher 3900000000 39 append_log futex 0x7f01" "$(cat json)"
report -j -i wall.pb.gz -s wait
same "JSON is of wall time, by default" "wall-time running,ready,blocked 6100000000" \
	"$(python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
print(r["event"], ",".join(r["states"]), sum(x["self_weight"] for x in r["rows"]))' \
		"$tmp/report")"
report -j -i cpu.pb.gz
has "no life is null" '"life": null' "$tmp/report"

### Names that mean harm

for options in '-s wait,on,holder' --holders '-s wait -x |'; do
	# shellcheck disable=SC2086
	report -i evil.pb.gz $options
	same "$options: status" 0 "$status"
	same "$options: no controls of a terminal" "" \
		"$(LC_ALL=C tr -d '\n -~' <"$tmp/report" | LC_ALL=C tr -d '\200-\377')"
done
report -j -i evil.pb.gz --holders
check "JSON is JSON, and its kinds are those that there are" python3 -c '
import json, sys
life = json.load(open(sys.argv[1]))["life"]
assert life["kinds"]["other"] == 500000000, life
assert sum(life["kinds"].values()) == life["blocked_ns"], life
' "$tmp/report"
"$portprof" report --html evil.html evil.pb.gz
python3 "$srcdir/tests/html/page.py" evil.html >shown
same "a page of them is whole" 0 $?

### How to see the rest

report -i cpu.pb.gz
has "who mostly waited is told how to see it" \
	'^It ran for 128\.000 ms of 2\.000 s; record --wall ' "$tmp/report"
same "in the last line" 1 "$(tail -n 1 "$tmp/report" | grep -c 'record --wall')"
report -q -i cpu.pb.gz
has_not "only rows are only rows" 'It ran for' "$tmp/report"
report -i busy.pb.gz
has_not "who ran is not" 'It ran for' "$tmp/report"
report -i wall.pb.gz
has_not "who sees it is not" 'It ran for' "$tmp/report"
report -i wall.pb.gz -e task-clock
has "who has it is told where" 'It ran for .* of 6\.100 s; report --state blocked' "$tmp/report"

### Latency

same "alone: all of its time" 300 \
	"$(weight latency.pb.gz --latency -- '$f["function"] == "serial"')"
same "four at once: a quarter" 100 \
	"$(weight latency.pb.gz --latency -- '$f["function"] == "parallel"')"
same "half of the time beside another half: by one and a half" 66 \
	"$(weight latency.pb.gz --latency -- '$f["function"] == "half"')"
same "without: CPU time" 400 \
	"$(weight latency.pb.gz -- '$f["function"] == "parallel"')"
report -i latency.pb.gz --latency
has "both shares stand side by side" ' 100\.000 ms +21\.4% +50\.0% .* parallel' "$tmp/report"
has "and how exact times are" '^  latency .* 10\.000 ms' "$tmp/report"
report -j -i latency.pb.gz --latency
has "JSON has both" '"cpu_weight": 400000000' "$tmp/report"
report -i wall.pb.gz --latency
same "without times: status" 1 "$status"
has "and how to record them" '--timeline' "$tmp/words"
report -i latency.pb.gz --latency --state blocked
same "latency is of running" 2 "$status"

tap_end
