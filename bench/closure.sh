#!/bin/sh
# SPDX-License-Identifier: MIT
# Does a profile sum to the CPU time that the kernel charged?
#
# usage: bench/closure.sh BUILD_DIRECTORY [BACKEND...]
#
# Records tests/cli/burn, whose threads use equal CPU time, at five rates with
# four numbers of threads, and prints for each run
#   sum_off_%    how far weights + outside + unattributed are from the CPU time
#                that wait4 told of the same process
#   tail/R       what was unattributed of attached threads, in R a thread (R as
#                in doc/contract.md: a period, and a tick where there are ticks)
#   bare_%       CPU time in which no event was attached or switched in: start,
#                exec, exit and the kernel's own work at each change of thread
#   lost         lost samples
#   unequal_%    how far the threads' weights are from their mean at most
#   stolen_%     what the hypervisor took of the CPUs' time meanwhile, which
#                perf's task-clock counts and wait4 does not
# Needs python3 for the arithmetic.
set -eu
build=$1
shift
[ $# -gt 0 ] || set -- perf timer itimer
work=$(mktemp -d "${TMPDIR:-/tmp}/portprof-closure.XXXXXX")
trap 'rm -rf "$work"' 0

tick_ms=4 # of kernels with HZ 250, for R
stolen() { awk '/^cpu / { print $9 * 10 }' /proc/stat; }

echo 'backend   Hz threads   cpu_ms  sum_off_%  tail/R  bare_%  lost' \
	'unequal_%  stolen_%'
for backend in "$@"; do
	tick=$tick_ms
	[ "$backend" != perf ] || tick=0
	for hz in 50 100 250 1000 4000; do
		for threads in 1 2 8 64; do
			before=$(stolen)
			"$build/portprof" record -q -b "$backend" -F "$hz" \
				-o "$work/p.pb.gz" -- "$build/tests/cli/burn" \
				"${PORTPROF_BENCH_MS:-400}" "$threads"
			taken=$(($(stolen) - before))
			"$build/portprof" report --json -i "$work/p.pb.gz" \
				>"$work/p.json"
			python3 - "$work/p.json" "$backend" "$hz" "$threads" \
				"$tick" "$taken" <<-'PY'
				import json, sys
				r = json.load(open(sys.argv[1]))
				backend = sys.argv[2]
				hz, n, tick, stolen = map(int, sys.argv[3:])
				kept = sum(f["self_weight"] for f in r["functions"])
				total = kept + r["outside"] + r["unattributed"]
				cpu = r["cpu_time_ns"]
				granted = r["rate"]["granted"] or hz
				longest = 1e9 / granted + tick * 1e6
				tail = r["unattributed"] - r["not_attached"]
				w = sorted((t["weight"] for t in r["threads"]), reverse=True)[:n]
				mean = sum(w) / len(w) if w else 0
				unequal = max(abs(x - mean) for x in w) / mean * 100 if mean else 0
				print("%-7s %4d %7d %8.1f %10.2f %7.2f %7.2f %5d %9.2f %9.2f" % (
				    backend, hz, n, cpu / 1e6, (total - cpu) / cpu * 100,
				    tail / longest / n, r["not_attached"] / cpu * 100,
				    r["lost"], unequal, stolen * 1e6 / cpu * 100))
			PY
		done
	done
done
