#!/bin/sh
# SPDX-License-Identifier: MIT
# A delay and a duration: what is before and after is not measured, and what
# was mapped and named before is known all the same.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3

# Two works, and time between them.
cat >twice.sh <<EOF2
'$burn' 120
: >first-done
sleep \$1
'$burn' 120
exit 6
EOF2

# within SECONDS: whether the first work was done so soon after this began
begin() {
	rm -f first-done
	touch begun
}
within() {
	python3 -c '
import os, sys
took = os.stat("first-done").st_mtime - os.stat("begun").st_mtime
sys.exit(took >= float(sys.argv[1]))' "$1"
}

# shellcheck disable=SC2086 # a word each
for backend in $(some_of perf timer itimer); do
	if ! can_use $backend; then
		skip "$backend" "$(tail -n 1 "$tmp/words" | tr '#' ' ')"
		continue
	fi
	begin
	record -b $backend -F 1000 -D 1500 -o p.pb.gz -- sh twice.sh 3
	same "$backend, -D: status" 6 "$status"
	claim "$backend, -D: the time after it is there, with names" \
		"f('burn_much') > 0 and r['total_weight'] > 100 * ms"
	claim "$backend, -D: parts make the total" \
		'weights + r["outside"] + r["unattributed"] == r["total_weight"]'
	if within 1.4; then
		claim "$backend, -D: the time before it is not" \
			"r['total_weight'] < 180 * ms"
	else
		skip "$backend, -D: the time before it" "too busy a machine"
	fi
	judge p.pb.gz

	begin
	record -b $backend -F 1000 --duration 1 -o p.pb.gz -- sh twice.sh 2
	same "$backend, --duration: status" 6 "$status"
	claim "$backend, --duration: the time before its end is there" \
		"f('burn_much') > 0"
	claim "$backend, --duration: the time after it is not" \
		"r['total_weight'] < 180 * ms"
	judge p.pb.gz

	echo precious >p.pb.gz
	rm -f p.pb.gz.old
	record -b $backend -D 60000 -o p.pb.gz -- sh -c 'exit 4'
	same "$backend, ended in its delay: status" 4 "$status"
	has "$backend, ended in its delay: words" \
		'nothing was measured, .* ended after .* delay of 60.000 s' \
		"$tmp/words"
	same "$backend, ended in its delay: no file is touched" \
		"precious p.pb.gz" "$(cat p.pb.gz) $(echo p.pb.gz*)"
done

### Whoever runs already

if can_use perf; then
	"$burn" 200 1 trap >ready &
	target=$!
	record -p $target -F 1000 -D 100 --duration 0.5 -o p.pb.gz
	same "-p --duration: it ends by itself" 0 "$status"
	claim "-p --duration: its time is there, and no more" \
		"0 < r['total_weight'] <= 700 * ms"
	claim "-p --duration: what was mapped before is known" \
		"f('burn_much') > 0"
	judge p.pb.gz
	kill -TERM $target
	wait $target
	same "-p --duration: the target was not disturbed" 7 $?
else
	skip "-p --duration" "$(tail -n 1 "$tmp/words" | tr '#' ' ')"
fi

### Settings and mistakes

printf 'delay = 0.05s\nduration = 5s\n' >times.conf
record --config times.conf -o p.pb.gz -- "$burn" 200
same "times of a configuration file: status" 0 "$status"
# refused WORDS PATTERN ARGUMENT...
refused() {
	refused_words=$1 refused_pattern=$2
	shift 2
	record "$@" -o gone.pb.gz -- true
	same "$refused_words: status" 125 "$status"
	has "$refused_words: words" "$refused_pattern" "$tmp/words"
	same "$refused_words: no file" "gone.pb.gz*" "$(echo gone.pb.gz*)"
}
refused "no delay" "delay 'soon' is not a time; give one as 500ms" -D soon
refused "a delay below 0" "delay '-1' is negative" -D -1
refused "another unit" "duration '3h' has a unit" --duration 3h
tap_end
