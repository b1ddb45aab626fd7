#!/bin/sh
# SPDX-License-Identifier: MIT
# No race: the suite on real kernels, and what starts threads of its own, with
# TSan.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/sanitizers/build.sh"
sanitize thread thread \
	tests/unit/test_helper \
	tests/unit/test_group_threads \
	tests/unit/test_pcring \
	tests/unit/test_timer_signal \
	tests/dropin/stress \
	tests/dropin/on_timer_real \
	tests/conform/conform_perf_real \
	tests/conform/conform_timer_real \
	tests/conform/conform_itimer_real
