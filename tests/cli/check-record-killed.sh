#!/bin/sh
# SPDX-License-Identifier: MIT
# The recorder is killed, or the file is cut: what was collected until about a
# second before can be read, and the report says what is missing.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
command -v python3 >/dev/null || { echo "skip: no python3 to read JSON"; exit 77; }

# The file, or the folder of parts, that holds samples by now; "" if none
find_profile() {
	for cli_path in p.pb.gz p.pb.gz.parts-*; do
		[ -e "$cli_path" ] || continue
		"$portprof" report -q -i "$cli_path" 2>/dev/null |
			grep -q burn_ && echo "$cli_path" && return
	done
}

for backend in perf timer; do
	if ! can_use $backend; then
		skip "$backend" "$(tail -n 1 "$tmp/words" | tr '#' ' ')"
		continue
	fi
	"$portprof" record -q -b $backend -F 1000 -o p.pb.gz -- \
		"$burn" 20 1 trap >ready 2>"$tmp/words" &
	recorder=$!
	profile=
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		profile=$(find_profile)
		[ -z "$profile" ] || break
		sleep 0.5
	done
	same "$backend: the profile can be read while recording" yes \
		"$([ -n "$profile" ] && echo yes)"
	sleep 2 # so that there are two portions with samples, at least
	kill -KILL $recorder
	wait $recorder 2>/dev/null
	# The command outlives its recorder; it has told its number.
	kill -TERM "$(sed -n 's/^ready //p' ready)"
	claim "$backend, recorder killed: what was collected is there" \
		"f('burn_much') > 0"
	claim "$backend, recorder killed: parts make the total" \
		'weights + r["outside"] + r["unattributed"] == r["total_weight"]'
	judge "$profile"
	report -i "$profile"
	same "$backend, recorder killed: report's status" 0 "$status"
	if [ $backend = timer ]; then
		# The command itself ended well, and so did its part.
		report -i p.pb.gz
		same "timer: report without a profile fails" 1 "$status"
		has "timer: but names the parts" \
			'report -i p\.pb\.gz\.parts-' "$tmp/words"
	else
		has "$backend, recorder killed: the report says so" \
			'^  INCOMPLETE .*last second' "$tmp/report"
		# Cut inside the last portion.
		head -c $(($(wc -c <p.pb.gz) - 10)) p.pb.gz >cut.pb.gz
		report -i cut.pb.gz
		same "a file cut in its last portion: status" 0 "$status"
		has "a file cut in its last portion: what is missing" \
			'^  DAMAGED .*missing' "$tmp/report"
		has "a file cut in its last portion: the rest" 'burn_much' \
			"$tmp/report"
	fi
	rm -rf p.pb.gz p.pb.gz.*
done
tap_end
