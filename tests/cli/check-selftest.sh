#!/bin/sh
# SPDX-License-Identifier: MIT
# portprof selftest: what it makes of its programs' answers, and of the verdict
# on the system's clocks.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"

PORTPROF_LIBEXECDIR=$tmp/has\ space export PORTPROF_LIBEXECDIR
mkdir "$PORTPROF_LIBEXECDIR"

# answer NAME STATUS LINE...
answer() {
	name=$1
	status=$2
	shift 2
	{
		echo '#!/bin/sh'
		for line; do echo "echo '$line'"; done
		echo "exit $status"
	} >"$PORTPROF_LIBEXECDIR/$name"
	chmod +x "$PORTPROF_LIBEXECDIR/$name"
}

selftest() {
	"$builddir/portprof" selftest "$@" >"$tmp/out" 2>&1
}

selftest
same 'nothing to run is a failure' 1 $?

answer conform_sundial_real 0 '1..1' 'ok 1 - life_4_stop_twice_is_ok'
selftest
same 'a clause that holds' 0 $?
has 'is in the table' '^LIFE-4 +holds' "$tmp/out"
has_not 'no verdict on clocks without the program' '^clocks' "$tmp/out"

answer check_clocks 0 'process by sand: can be trusted'
selftest -q
same 'clocks that can be trusted' 0 $?
has 'are said to be' '^clocks +process by sand: can be trusted' "$tmp/out"

answer check_clocks 1 'process by sand: cannot be trusted: it went back'
selftest -q
same 'clocks that cannot be trusted fail' 1 $?
has 'with the reason' 'cannot be trusted: it went back' "$tmp/out"

"$builddir/tests/fixtures/check_clocks" >"$tmp/out" 2>&1
same 'the clocks of this system can be trusted' 0 $?
has 'which calls they are' 'process by [a-z]' "$tmp/out"
tap_end
