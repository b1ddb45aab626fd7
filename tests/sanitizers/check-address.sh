#!/bin/sh
# SPDX-License-Identifier: MIT
# No address that is not ours, no leak, nothing undefined: what reads foreign
# bytes and words, and the suite on simulated kernels, with ASan and UBSan.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/sanitizers/build.sh"
sanitize address address,undefined \
	tests/unit/test_file_read \
	tests/unit/test_file_property \
	tests/unit/test_file_memory \
	tests/unit/test_gmon \
	tests/unit/test_gmon_profile \
	tests/unit/test_config_text \
	tests/unit/test_text_mutants \
	tests/unit/test_event_parse \
	tests/unit/test_perf_decode \
	tests/unit/test_perf_ring \
	tests/unit/test_perf_sysfs \
	tests/unit/test_otel \
	tests/unit/test_otel_reach \
	tests/unit/test_label_look \
	tests/tools/test_report_rows \
	tests/tools/test_symbols_table \
	tests/dropin/test_rules \
	tests/conform/conform_perf_sim \
	tests/conform/conform_timer_sim \
	tests/conform/conform_profil_freebsd_sim \
	tests/conform/conform_solaris_pcsample_sim \
	tests/conform/conform_perf_real \
	tests/cli/check-options.sh \
	tests/cli/check-report-others.sh
