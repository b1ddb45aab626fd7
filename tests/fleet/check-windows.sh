#!/bin/sh
# SPDX-License-Identifier: MIT
# Windows of a recording: each begins where the one before it ends, and together
# they are the one recording that they were cut from. What a server did not take is
# sent by the next recording, once.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
. "$srcdir/tests/fleet/fleet.sh"
need_fleet

server_begin web

### One after another

record --push "$url/up/" --every 1s --spool spool --health health -F 997 -- \
	"$burn" 2500
same "the command's status" 0 "$status"
same "nothing is said" "" "$(cat words)"
count=$(count_of web/*.body)
check "several windows ($count)" [ "$count" -ge 3 ]
has "each has a name of its own" '^PUT /up/[0-9a-f]{16}-[0-9a-f]{16}\.pb\.gz ' \
	web/0002.request
same "no name twice" "$count" \
	"$(cat web/*.request | sed -n 's/^PUT \([^ ]*\).*/\1/p' | sort -u | wc -l)"
same "the spool is empty" 0 "$(count_of spool/*.pb.gz)"

"$portprof" merge -q -o merged.pb.gz web/*.body
closes "all windows" 3
claim "all windows: functions" \
	'f("burn_much") > 2 * f("burn_little") > 0 and "burn_much" in str(r)'
judge merged.pb.gz

# wherever one ends, the next begins, to the nanosecond
cat >follow.py <<'EOF2'
import sys
sys.path.insert(0, sys.argv[1])
from pprof import first, message
import gzip
end = None
for path in sys.argv[2:]:
    whole = message(gzip.decompress(open(path, "rb").read()))
    begin, duration = first(whole, 9), first(whole, 10)
    if end is not None and begin != end:
        print(path, "begins", begin - end, "ns after the end before it")
    end = begin + duration
EOF2
# shellcheck disable=SC2046
same "no gap, no overlap" "" "$(python3 follow.py "$srcdir/tests/cli" $(
	grep -l . web/*.request | sed 's/request$/body/'))"

samples=$("$portprof" report -j merged.pb.gz | python3 -c '
import json, sys
print(json.load(sys.stdin)["samples"])' 2>/dev/null)
has "health: samples" "^portprof_samples_total $samples\$" health
has "health: sent samples" "^portprof_samples_sent_total $samples\$" health
has "health: windows" "^portprof_windows_total $count\$" health
has "health: nothing waits" '^portprof_spool_bytes 0$' health
has "health: nothing is old" '^portprof_spool_oldest_seconds 0$' health

### What one window found out about a file the next one has

# In its place comes one of the same build-id without a symbol: after that only what
# was read before has names.
if command -v strip >/dev/null && ! is_sanitized; then
	cp "$burn" ours
	strip -o stripped ours
	rm -f web/*.body web/*.request
	"$portprof" record -q --push "$url/kept/" --every 1s --spool spool -F 997 -- \
		./ours 60000 2>words &
	pid=$!
	# shellcheck disable=SC2317
	has_windows() {
		[ "$(count_of web/*.body)" -ge "$1" ]
	}
	check "the first window" wait_for has_windows 1
	mv stripped ours
	before=$(count_of web/*.body)
	check "two more" wait_for has_windows $((before + 3))
	kill -TERM $pid
	wait $pid 2>/dev/null
	# one may have ended while the files changed
	# shellcheck disable=SC2046
	"$portprof" merge -q -o kept.pb.gz $(find web/*.body | sort |
		sed "1,$((before + 1))d")
	claim "names that were read before" 'f("burn_much") > 0'
	judge kept.pb.gz
else
	skip "names that were read before" "no strip here, or libraries that need it"
fi

### Killed, and a server that is away

server_says 503
# shellcheck disable=SC2016
"$portprof" record --push "$url/up/" --every 1s --spool spool -F 997 -- \
	sh -c 'echo $$ >command; exec "$0" 60000' "$burn" >printed 2>words &
pid=$!
# shellcheck disable=SC2317
waits() {
	[ "$(count_of spool/*.pb.gz)" -ge 2 ]
}
check "windows wait" wait_for waits
kill -9 $pid
wait $pid 2>/dev/null
# the command runs on, and would do so beside the tests that come
kill "$(cat command)"
has "it is said once" 'status 503.*batches wait in .spool' words
same "once" 1 "$(grep -c 503 words)"
check "a window was being written" [ "$(count_of spool/*.draft)" -ge 1 ]
waiting=$(count_of spool/*.pb.gz spool/*.draft)

server_says ok
rm -f web/*.body web/*.request
"$portprof" push -q --to "$url/up/" --spool spool >printed 2>words
same "sent by hand: status" 0 $?
same "all of them" "$waiting" "$(count_of web/*.body)"
same "nothing is left" 0 "$(count_of spool/*.meta spool/*.pb.gz spool/*.draft)"
# of the killed window what was written until then
"$portprof" merge -q -o rescued.pb.gz web/*.body
claim "what was measured before" 'f("burn_much") > 0'
judge rescued.pb.gz

### Two at once

"$portprof" record --push "$url/" --every 1s --spool spool -- sleep 30 &
pid=$!
# shellcheck disable=SC2317
holds() {
	! "$portprof" push --to "$url/" --spool spool 2>words
}
check "the spool is one recording's" wait_for holds
has "and says so" 'in use by another portprof' words
kill -TERM $pid
wait $pid

### Refusals, before anything happens

for wrong in '--every 5' '--every 0s' '--keep 3' '--push nowhere' \
	'--push http://' '--push http://u:p@h/' '--every 5s'; do
	rm -rf none
	# shellcheck disable=SC2086
	record $wrong --spool none -- touch made
	same "$wrong: status" 125 "$status"
	check "$wrong: nothing is run" [ ! -e made ]
	check "$wrong: no spool" [ ! -e none ]
done
record --push "$url/" -o x.pb.gz -- true
has "-o and --push" '-o and --push exclude each other' words
tap_end
