#!/bin/sh
# SPDX-License-Identifier: MIT
# tests/run-test.sh tells the truth: about failures, skips, crashes, programs
# that run nothing, and programs that never end.
set -eu
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/portprof-runner.XXXXXX")
trap 'rm -rf "$tmp"' 0
status=0
tried=0

# expect NAME 'SCRIPT' 'WANTED OUTPUT'
expect() {
	printf '%s\n' "$2" >"$tmp/$1.sh"
	printf '%s\n' "$3" >"$tmp/want"
	PORTPROF_TEST_TIMEOUT=2 sh "$srcdir/tests/run-test.sh" \
		"$tmp/$1.sh" 2>/dev/null | grep -v '^#' >"$tmp/got" || :
	tried=$((tried + 1))
	cmp -s "$tmp/want" "$tmp/got" && return 0
	echo "$1: wanted"
	sed 's/^/    /' "$tmp/want"
	echo "got"
	sed 's/^/    /' "$tmp/got"
	status=1
}

expect one_group 'echo 1..2; echo ok 1 - a; echo ok 2 - b' \
'ok 1 - a
ok 2 - b
1..2'
expect two_groups 'echo 1..1; echo ok 1 - a; echo 1..1; echo ok 1 - b' \
'ok 1 - a
ok 2 - b
1..2'
expect failure 'echo 1..1; echo not ok 1 - a; exit 1' \
'not ok 1 - a
1..1'
expect skipped_case \
	'echo 1..2; echo skip: no such kernel; echo not ok 1 "# SKIP" a; echo ok 2 - b' \
'ok 1 - a # SKIP no such kernel
ok 2 - b
1..2'
expect skipped_program 'echo no PMU; exit 77' '1..0 # SKIP no PMU'
tap=". $(cd "$srcdir" && pwd)/tests/tools/tap.sh"
expect skipped_rest "$tap; ok a; echo skip: no PMU; exit 77" \
'ok 1 - a
ok 2 - the rest # SKIP no PMU
1..2'
expect skipped_after_failure "$tap; not_ok a; echo skip: no PMU; exit 77" \
'not ok 1 - a
ok 2 - the rest # SKIP no PMU
1..2'
expect skipped_at_once "$tap; echo skip: no PMU; exit 77" '1..0 # SKIP no PMU'
expect left_midway "$tap; ok a; exit 3" \
'ok 1 - a
not ok 2 - left_midway ended with status 3
1..2'
expect no_case 'exit 0' \
'not ok 1 - no_case ran no case (exit status 0)
1..1'
expect empty_plan 'echo 1..0' \
'not ok 1 - empty_plan ran no case (exit status 0)
1..1'
expect died_after 'echo 1..1; echo ok 1 - a; kill -9 $$' \
'ok 1 - a
not ok 2 - died_after ended with status 137
1..2'
expect ended_early 'echo 1..3; echo ok 1 - a' \
'ok 1 - a
not ok 2 - ended_early ran 1 of 3 cases
1..2'
expect check-script 'exit 0' \
'ok 1 - check-script
1..1'
expect check-fails 'exit 1' \
'not ok 1 - check-fails
1..1'
if timeout -k 1 1 true 2>/dev/null; then
	expect hangs 'echo 1..1; sleep 60' \
'not ok 1 - hangs ran no case (exit status 124)
1..1'
fi
# What tap.sh does at the end, no script takes away.
if grep -rl '^\. .*/tools/tap\.sh"$' "$srcdir/tests" --include='check-*.sh' |
	xargs grep -lE '^trap .*(0|EXIT)$'; then
	echo "scripts that source tap.sh set \$at_end instead of a trap"
	status=1
fi
echo "check-runner: $tried streams"
exit $status
