#!/bin/sh
# SPDX-License-Identifier: MIT
# Hardware events are counted and sampled exactly, on the PMU of an emulated
# arm64 machine (tests/pmu/run); a library made wrong by one is noticed there.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
if [ "${PP_SANITIZERS:-no}${PP_COVERAGE:-no}" != nono ]; then
	echo "skip: the guest's library is not instrumented: use a plain build"
	exit 77
fi
cd "$builddir" || exit 1
"$srcdir/tests/pmu/run"
status=$?
[ $status -ne 77 ] || exit 77
"$srcdir/tests/pmu/run" --mutants || status=1
exit $status
