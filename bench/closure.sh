#!/bin/sh
# SPDX-License-Identifier: MIT
# Does a profile sum to the CPU time that the kernel charged?
#
# usage: bench/closure.sh BUILD_DIRECTORY [BACKEND...]
#
# Records tests/cli/burn, whose threads use equal CPU time, at five rates with
# four numbers of threads, and prints for each run how far weights + outside +
# unattributed are from the CPU time that wait4 told of the same process, how
# much was unattributed in periods a thread, what was lost, and how unequal
# the weights of equal threads were. Needs python3 for the arithmetic.
set -eu
build=$1
shift
[ $# -gt 0 ] || set -- perf timer itimer
work=$(mktemp -d "${TMPDIR:-/tmp}/portprof-closure.XXXXXX")
trap 'rm -rf "$work"' 0

echo 'backend   Hz threads   cpu_ms  sum_off_% unattr_periods/thread  lost  unequal_%'
for backend in "$@"; do
	for hz in 50 100 250 1000 4000; do
		for threads in 1 2 8 64; do
			"$build/portprof" record -q -b "$backend" -F "$hz" \
				-o "$work/p.pb.gz" -- "$build/tests/cli/burn" \
				"${PORTPROF_BENCH_MS:-400}" "$threads"
			"$build/portprof" report --json -i "$work/p.pb.gz" \
				>"$work/p.json"
			python3 - "$work/p.json" "$backend" "$hz" "$threads" <<-'PY'
				import json, sys
				r = json.load(open(sys.argv[1]))
				backend, hz, n = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
				kept = sum(f["self_weight"] for f in r["functions"])
				total = kept + r["outside"] + r["unattributed"]
				cpu = r["cpu_time_ns"]
				granted = r["rate"]["granted"] or hz
				period = 1e9 / granted
				w = sorted((t["weight"] for t in r["threads"]), reverse=True)[:n]
				mean = sum(w) / len(w) if w else 0
				unequal = max(abs(x - mean) for x in w) / mean * 100 if mean else 0
				print("%-7s %4d %7d %8.1f %10.2f %21.2f %5d %10.2f" % (
				    backend, hz, n, cpu / 1e6, (total - cpu) / cpu * 100,
				    r["unattributed"] / period / n, r["lost"], unequal))
			PY
		done
	done
done
