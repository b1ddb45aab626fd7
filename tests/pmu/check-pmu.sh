#!/bin/sh
# SPDX-License-Identifier: MIT
# Hardware events are counted and sampled exactly, on the PMU of an emulated
# arm64 machine (tests/pmu/run).
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
if [ "${PP_SANITIZERS:-no}${PP_COVERAGE:-no}" != nono ]; then
	echo "skip: the guest's library is not instrumented: use a plain build"
	exit 77
fi
cd "$builddir" && exec "$srcdir/tests/pmu/run"
