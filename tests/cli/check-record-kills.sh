#!/bin/sh
# SPDX-License-Identifier: MIT
# SIGKILL, SIGTERM, SIGINT and SIGHUP to recorder or target at random moments, half
# of them in the first second: every file opens or was never begun, nothing is
# left behind, what was sampled is there. PORTPROF_SEED repeats a run.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3
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
	"$(by_speed 3 12 300)" "${PORTPROF_SEED:-$$}" $usable >"$tmp/said"
status=$?
sed 's/^/# /' "$tmp/said"
same "after each of them the profile is whole and nothing else is left" 0 $status
tap_end
