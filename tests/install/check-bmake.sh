#!/bin/sh
# SPDX-License-Identifier: MIT
# The BSDs' make and a shell that is POSIX's and no more build the tree and pass
# make check. BMAKE_TESTS: which tests, by default all of them.
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$srcdir/tests/install/build.sh"
command -v bmake >/dev/null || { echo "skip: no bmake here"; exit 77; }
# The plainest that is here; none of them knows what bash adds.
for shell in posh dash mksh yash ''; do
	! path=$(command -v "$shell") || break
done
[ -n "$shell" ] || { echo "skip: no POSIX shell here but bash"; exit 77; }
unset MAKEFLAGS MAKE
SHELL=$path CONFIG_SHELL=$path PORTPROF_SPEED=check
export SHELL CONFIG_SHELL PORTPROF_SPEED

run "$path" "$srcdir/configure" CC="$CC" CXX="$CXX" CFLAGS=-O1
run bmake -j2
run bmake -j2 check-programs
if [ -n "${BMAKE_TESTS-}" ]; then
	run bmake check-TESTS TESTS="$BMAKE_TESTS"
else
	run bmake check
fi
grep -Eq '^# PASS: +[1-9]' "$tmp/log" || {
	tail -n 40 "$tmp/log"
	echo "no test has run"
	exit 1
}
echo "check-bmake: passes with bmake and $shell"
