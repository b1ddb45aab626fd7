#!/bin/sh
# SPDX-License-Identifier: MIT
# portprof record of many processes that are shorter than a period: estimated
# where CPUs may be sampled, and else said to be missing.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_backend perf

cat >many.sh <<'EOF2'
i=0
while [ $i -lt 250 ]; do
	"$1" 3
	i=$((i + 1))
done
EOF2
record -b perf -F 100 -o exact.pb.gz --no-estimates -- sh many.sh "$burn"
same "--no-estimates: status" 0 "$status"
claim "--no-estimates: nothing is an estimate" 'r["standard_error"] == 0'
claim "--no-estimates: most of the time is in no sample" \
	'r["unattributed"] > r["total_weight"] / 2'
judge exact.pb.gz

record -b perf -F 100 -o many.pb.gz -- sh many.sh "$burn"
same "estimated: status" 0 "$status"
if "$portprof" report -i many.pb.gz --json | grep -q '"standard_error": *0\b'; then
	ok "CPUs may not be sampled here"
	claim "then a note has the remedy" \
		'any("perf_event_paranoid" in n for n in r["notes"])'
else
	closes "estimated" 2
	claim "within six standard errors of the total" \
		'abs(r["unattributed"]) <= 6 * r["standard_error"]'
	claim "a function that is in each process" \
		'f("burn_much") > 0.2 * r["total_weight"]'
fi
judge many.pb.gz

tap_end
