# SPDX-License-Identifier: MIT
# tests/cli/: the command as a user meets it, on programs that are known and
# on real ones.

check_PROGRAMS += tests/cli/burn tests/cli/deny tests/cli/touch
tests_cli_burn_SOURCES = tests/cli/burn.c
tests_cli_deny_SOURCES = tests/cli/deny.c
tests_cli_touch_SOURCES = tests/cli/touch.c
SCRIPT_TESTS += \
	tests/cli/check-cgroup.sh \
	tests/cli/check-config.sh \
	tests/cli/check-doctor.sh \
	tests/cli/check-export.sh \
	tests/cli/check-export-large.sh \
	tests/cli/check-list.sh \
	tests/cli/check-completions.sh \
	tests/cli/check-man-examples.sh \
	tests/cli/check-man-programs.sh \
	tests/cli/check-options.sh \
	tests/cli/check-preload.sh \
	tests/cli/check-record-attach.sh \
	tests/cli/check-record-ends.sh \
	tests/cli/check-record-errors.sh \
	tests/cli/check-record-killed.sh \
	tests/cli/check-record-kills.sh \
	tests/cli/check-record-poor.sh \
	tests/cli/check-record-rare.sh \
	tests/cli/check-record-real.sh \
	tests/cli/check-record-signals.sh \
	tests/cli/check-record-times.sh \
	tests/cli/check-report.sh \
	tests/cli/check-report-chains.sh \
	tests/cli/check-report-code.sh \
	tests/cli/check-report-others.sh \
	tests/cli/check-report-perf.sh \
	tests/cli/check-stat.sh
EXTRA_DIST += tests/cli/cli.sh tests/cli/pg_work.c tests/cli/random_kills.py \
	tests/cli/terminal.py
