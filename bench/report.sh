#!/bin/sh
# SPDX-License-Identifier: MIT
# What a report of a large profile costs, against perf report --stdio.
#
# usage: bench/report.sh BUILD_DIRECTORY [SAMPLES [SHAPE...]]
#
# Records bench/faults (make bench/faults) twice, with every page fault as a
# sample (10000000 of them): by portprof and by perf record. Then reports both
# files, and prints for each the samples in it, its size, and the report's CPU
# time, wall time and largest memory, with the ratio of portprof's to perf's.
# Shapes: flat (no call chains), chains (up to 100000 different ones), distinct
# (hardly two alike: the worst case for a format that adds up; a tenth of the
# samples, as perf report needs 3 KiB of memory for each). Needs perf, python3,
# 1.2 GB of disk, and minutes.
set -eu
build=$(cd "$1" && pwd)
samples=${2:-10000000}
shift
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- flat chains distinct
command -v perf >/dev/null || { echo "report.sh: there is no perf here" >&2; exit 1; }
work=$(mktemp -d "${TMPDIR:-/tmp}/portprof-report.XXXXXX")
trap 'rm -rf "$work"' 0
portprof=$build/portprof
if [ -x "$build/.libs/portprof" ]; then
	portprof=$build/.libs/portprof
	LD_LIBRARY_PATH=$build/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	export LD_LIBRARY_PATH
fi

# spent COMMAND...: "CPU WALL MIB" of it; what it prints goes to $work/printed
spent() {
	python3 - "$work/printed" "$@" <<'PY'
import os, sys, time
begun = time.monotonic()
child = os.fork()
if child == 0:
    out = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(out, 1)
    os.execvp(sys.argv[2], sys.argv[2:])
_, status, used = os.wait4(child, 0)
if status:
    sys.exit("report.sh: %s failed" % sys.argv[2])
print("%.2f %.2f %.0f" % (used.ru_utime + used.ru_stime,
                          time.monotonic() - begun, used.ru_maxrss / 1024))
PY
}

# row SHAPE TOOL SAMPLES FILE CPU WALL MIB
row() {
	printf '%-9s %-8s %10s %10s %8s %8s %8s\n' "$1" "$2" "$3" \
		"$(($(wc -c <"$4") / 1024))" "$5" "$6" "$7"
}

echo 'shape     tool        samples       KiB    cpu_s   wall_s      MiB'
for shape in "$@"; do
	chains=-g paths=20000 count=$samples
	case $shape in
	flat) chains= ;;
	distinct) paths=1000000000000 count=$((samples / 10)) ;;
	esac
	# A ring that holds what comes between two looks at it.
	# shellcheck disable=SC2086
	"$portprof" record -q -m 16M $chains -e page-faults -c 1 \
		-o "$work/p.pb.gz" -- "$build/bench/faults" "$count" $paths
	# shellcheck disable=SC2086
	perf record -q $chains -e page-faults -c 1 -o "$work/p.data" \
		"$build/bench/faults" "$count" $paths >/dev/null
	ours=$(spent "$portprof" report -i "$work/p.pb.gz")
	kept=$("$portprof" report -i "$work/p.pb.gz" -n 1 |
		sed -n 's/^  samples  *\([0-9]*\) kept.*/\1/p')
	theirs=$(spent perf report --stdio -i "$work/p.data" 2>/dev/null)
	seen=$(sed -n 's/^# Samples: \([0-9A-Z]*\) .*/\1/p' "$work/printed" |
		head -n 1)
	# shellcheck disable=SC2086
	row "$shape" portprof "$kept" "$work/p.pb.gz" $ours
	# shellcheck disable=SC2086
	row "$shape" perf "$seen" "$work/p.data" $theirs
	echo "$ours $theirs" | awk -v shape="$shape" '{
		printf "%-9s %-8s %10s %10s %8.3f %8.3f %8.3f\n", shape, "ratio",
			"", "", $1 / $4, $2 / $5, $3 / $6 }'
	rm -f "$work/p.data"
done
