#!/bin/sh
# SPDX-License-Identifier: MIT
# Options that are read again: at SIGHUP a window ends, and the next one is measured and
# sent as the file says now. A file that is wrong changes nothing.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
. "$srcdir/tests/fleet/fleet.sh"
need_fleet

record -q -a -F 49 --duration 0.1 -o try.pb.gz
[ "$status" -eq 0 ] || { echo "skip: $(tail -n 1 words)"; exit 77; }
server_begin web

# options LINE...: what the file has from now on
options() {
	printf '%s\n' "# of a test" "" "$@" >options.new
	mv options.new options
}

### Refusals, before anything happens

for wrong in 'tag a=b' '--tag' '-g all' '--help' '--options other' '--' \
	'--nothing'; do
	options "--push $url/" "$wrong"
	record -a --options options --spool none
	same "$wrong: status" 125 "$status"
	has "$wrong: where" "'options', line 4" words
	check "$wrong: no spool" [ ! -e none ]
done
record -a --options nothing --push "$url/"
has "no file" "cannot read 'nothing'" words
options -g
record -a --options options
has "nowhere to send to" 'options need --push' words
"$portprof" top --options options 2>words
has "not of top" 'options need --push' words
record --options options --push "$url/" -- true
has "not of a command" 'options is for -a and --push' words

### Tags, while the engine is away

options "--push pyroscope+$url" "  -F 97  " "--tag env=one"
server_says 503
"$portprof" record -a --options options --every 2s --spool spool \
	--health health 2>said &
pid=$!
# shellcheck disable=SC2317
waits() {
	[ "$(count_of spool/*.pb.gz)" -ge "$1" ]
}
# shellcheck disable=SC2317
says() {
	[ "$(grep -c "$1" said)" -ge "$2" ]
}
check "a window waits" wait_for waits 1
options "--push pyroscope+$url" "-F 97" "--tag env=two"
kill -HUP $pid
check "read again" wait_for says 'was read again' 1
before=$(count_of spool/*.pb.gz)
check "two more wait" wait_for waits $((before + 2))
has "health: how long they wait" '^portprof_spool_oldest_seconds ([2-9]|[1-9][0-9]+)(\.[0-9]+)?$' health
rm -f web/*.body web/*.request
server_says ok

# Of each request the tag, and when the window began and ended.
cat >windows.py <<'EOF2'
import glob, gzip, json, subprocess, sys
sys.path.insert(0, sys.argv[1] + "/tests/cli")
from pprof import first, message
windows = []
for request in sorted(glob.glob("web/*.request")):
    path = request[:-8] + ".body"
    if "/push.v1" not in open(request).readline():
        continue
    series = json.loads(subprocess.run(
        [sys.executable, sys.argv[1] + "/tests/fleet/push.py", "pyroscope", path],
        capture_output=True, check=True).stdout)
    for at, one in enumerate(series):
        whole = message(gzip.decompress(
            open("%s.%d.pb.gz" % (path, at), "rb").read()))
        windows.append((first(whole, 9), first(whole, 10),
                        one["labels"].get("env")))
windows = sorted(set(windows))
end = None
tags = []
for begin, duration, tag in windows:
    if end is not None and begin != end:
        print("a window begins", begin - end, "ns after the end before it")
    end = begin + duration
    if tag not in tags[-1:]:
        tags.append(tag)
print(*tags)
EOF2
# shellcheck disable=SC2317
have_come() {
	[ "$(count_of spool/*.pb.gz)" -eq 0 ]
}
check "all are sent" wait_for have_come
same "each with the tag of its time, no gap, no overlap" "one two" \
	"$(python3 windows.py "$srcdir")"

### A file that is wrong

options "--push pyroscope+$url" "--tag env=three" "--only"
kill -HUP $pid
check "that it is wrong" wait_for says 'changes nothing' 1
has "and where" "'options', line 5" said
options "--push pyroscope+$url" "--tag env=three" "--headers absent"
kill -HUP $pid
check "a file that is missing" wait_for says 'changes nothing' 2
options "--push pyroscope+$url" "--tag env=three" "-e no-such-event"
kill -HUP $pid
check "an event that is missing" wait_for says 'changes nothing' 3
options "--push pyroscope+$url" "-C 0"
kill -HUP $pid
check "another target" wait_for says 'changes nothing' 4
rm options
kill -HUP $pid
check "no file" wait_for says 'changes nothing' 5
count=$(count_of web/*.body)
# shellcheck disable=SC2317
more_come() {
	[ "$(count_of web/*.body)" -gt "$count" ]
}
check "windows come as before" wait_for more_come
same "the tags are those before" "one two" "$(python3 windows.py "$srcdir")"

### Another place, another rate

options "--push $url/put/" "-F 49" "--tag env=four"
kill -HUP $pid
check "read again" wait_for says 'was read again' 2
# shellcheck disable=SC2317
are_put() {
	[ "$(cat web/*.request | grep -c '^PUT /put/')" -ge 3 ]
}
check "windows are put" wait_for are_put
kill -TERM $pid
wait $pid
same "the status" 0 $?
rates=
last=
# shellcheck disable=SC2013
for request in $(grep -l '^PUT /put/' web/*.request); do
	file=${request%.request}.body
	rates="$rates $("$portprof" report -j -i "$file" 2>/dev/null |
		sed -n 's/.*"event": "[^"]*freq=\([0-9]*\)".*/\1/p' | head -n 1)"
	last=$file
done
same "the last windows: the new rate" 49 "${rates##* }"
# what the old rate measured last is sent to the new place
check "the first: the old one or the new one" \
	[ -z "$(echo "$rates" | tr -d ' 49 97')" ]
cat >apart.py <<'EOF2'
import gzip, sys
sys.path.insert(0, sys.argv[1] + "/tests/cli")
from pprof import first, message
end = 0
for path in sys.argv[2:]:
    whole = message(gzip.decompress(open(path, "rb").read()))
    if first(whole, 9) < end:
        print(path, "begins", end - first(whole, 9), "ns too early")
    end = first(whole, 9) + first(whole, 10)
EOF2
# shellcheck disable=SC2046
same "no overlap" "" "$(python3 apart.py "$srcdir" $(
	grep -l '^PUT /put/' web/*.request | sed 's/request$/body/'))"
check "there are some" [ -n "$last" ]
has "health: nothing failed" '^portprof_windows_failed_total 0$' health
same "the spool is empty" 0 "$(count_of spool/*.pb.gz spool/*.draft)"
tap_end
