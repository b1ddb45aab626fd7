#!/bin/sh
# SPDX-License-Identifier: MIT
# The recorder is killed, or the file is cut: what was collected until about a
# second before can be read, and the report says what is missing.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3

# shellcheck disable=SC2317 # for wait_for
has_samples() {
	"$portprof" report -q -i p.pb.gz 2>/dev/null | grep -q burn_
}

for backend in perf timer itimer; do
	if ! can_use $backend; then
		skip "$backend" "$(tail -n 1 "$tmp/words" | tr '#' ' ')"
		continue
	fi
	"$portprof" record -q -b $backend -F 1000 -o p.pb.gz -- \
		"$burn" 20 1 trap >ready 2>"$tmp/words" &
	recorder=$!
	check "$backend: the profile can be read while recording" \
		wait_for has_samples
	sleep 2 # so that there are two portions with samples, at least
	kill -KILL $recorder
	wait $recorder 2>/dev/null
	# The command outlives its recorder; it has told its number.
	kill -TERM "$(sed -n 's/^ready //p' ready)"
	claim "$backend, recorder killed: what was collected is there" \
		"f('burn_much') > 0"
	claim "$backend, recorder killed: parts make the total" \
		'weights + r["outside"] + r["unattributed"] == r["total_weight"]'
	judge p.pb.gz
	report -i p.pb.gz
	same "$backend, recorder killed: report's status" 0 "$status"
	has "$backend, recorder killed: the report says so" \
		'^  INCOMPLETE .*last second' "$tmp/report"
	# Cut inside the last portion.
	head -c $(($(wc -c <p.pb.gz) - 10)) p.pb.gz >cut.pb.gz
	report -i cut.pb.gz
	same "$backend, a file cut in its last portion: status" 0 "$status"
	has "$backend, a file cut in its last portion: what is missing" \
		'^  DAMAGED .*missing' "$tmp/report"
	has "$backend, a file cut in its last portion: the rest" 'burn_much' \
		"$tmp/report"
	rm -rf p.pb.gz p.pb.gz.*
done
tap_end
