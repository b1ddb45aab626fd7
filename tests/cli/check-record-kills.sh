#!/bin/sh
# SPDX-License-Identifier: MIT
# kill -9 of recorder or target at random moments: every file opens, and all
# but the last second is in it. PORTPROF_KILLS says how often (12),
# PORTPROF_SEED repeats a run.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
command -v python3 >/dev/null || { echo "skip: no python3"; exit 77; }
[ -r /proc/self/schedstat ] || { echo "skip: no /proc/PID/schedstat"; exit 77; }

usable=
for backend in perf timer itimer; do
	if can_use $backend; then
		usable="$usable $backend"
	else
		skip "$backend" "$(tail -n 1 "$tmp/words" | tr '#' ' ')"
	fi
done
[ -n "$usable" ] || { echo "skip: no backend works here"; exit 77; }

# shellcheck disable=SC2086
python3 "$srcdir/tests/cli/random_kills.py" "$portprof" "$burn" \
	"${PORTPROF_KILLS:-12}" "${PORTPROF_SEED:-$$}" $usable >"$tmp/said"
status=$?
sed 's/^/# /' "$tmp/said"
same "after each of them the profile holds all but the last second" 0 $status
tap_end
