#!/bin/sh
# SPDX-License-Identifier: MIT
# A library that is wrong by one is noticed on the emulated PMU: for each line of
# tests/pmu/mutants.txt, changed, a case fails there.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
if [ "${PP_SANITIZERS:-no}${PP_COVERAGE:-no}" != nono ]; then
	echo "skip: the guest's library is not instrumented: use a plain build"
	exit 77
fi
cd "$builddir" && exec "$srcdir/tests/pmu/run" --mutants
