# SPDX-License-Identifier: MIT
# tests/cli/: the command as a user meets it, on programs that are known and
# on real ones.

check_PROGRAMS += tests/cli/burn tests/cli/close_all tests/cli/deny \
	tests/cli/forks tests/cli/in_step tests/cli/inherited \
	tests/cli/label_burn tests/cli/label_wait tests/cli/region_job tests/cli/renamed tests/cli/storm \
	tests/cli/ten tests/cli/toggled tests/cli/touch
# futex(2), sigtimedwait(2) and the other system calls of Linux
if HAVE_PERF_HEADERS
check_PROGRAMS += tests/cli/alone tests/cli/otel_burn \
	tests/cli/otel_wait tests/cli/otel_wait_self tests/cli/switches tests/cli/waits \
	tests/cli/waits_pointers
endif
# programs to be measured: without portprof in them
tests_cli_alone_SOURCES = tests/cli/alone.c tests/cli/threads.h
tests_cli_alone_LDADD = -lpthread
tests_cli_burn_LDADD =
tests_cli_close_all_LDADD =
tests_cli_deny_LDADD =
tests_cli_forks_SOURCES = tests/cli/forks.c tests/cli/threads.h
tests_cli_forks_LDADD = -lpthread
tests_cli_in_step_LDADD =
tests_cli_inherited_LDADD =
tests_cli_label_burn_LDADD = libportprof.la -lpthread
tests_cli_label_wait_LDADD = libportprof.la -lpthread
tests_cli_otel_burn_SOURCES = tests/cli/otel_burn.c tests/fixtures/otel_hand.h
tests_cli_otel_burn_LDFLAGS = $(AM_LDFLAGS) -rdynamic
tests_cli_otel_burn_LDADD = -lpthread
tests_cli_otel_wait_SOURCES = tests/cli/label_wait.c tests/fixtures/otel_hand.h
tests_cli_otel_wait_CPPFLAGS = $(AM_CPPFLAGS) -DBY_HAND -DNO_LIBRARY
tests_cli_otel_wait_LDFLAGS = $(AM_LDFLAGS) -rdynamic
tests_cli_otel_wait_LDADD = -lpthread
tests_cli_otel_wait_self_SOURCES = $(tests_cli_otel_wait_SOURCES)
tests_cli_otel_wait_self_CPPFLAGS = $(AM_CPPFLAGS) -DBY_HAND
tests_cli_otel_wait_self_LDFLAGS = $(AM_LDFLAGS) -rdynamic
tests_cli_otel_wait_self_LDADD = libportprof.la -lpthread
tests_cli_region_job_LDADD = libportprof.la
tests_cli_renamed_LDADD =
tests_cli_storm_LDADD =
tests_cli_switches_LDADD = -lpthread
tests_cli_ten_LDADD =
tests_cli_toggled_LDADD =
tests_cli_touch_LDADD =
tests_cli_waits_LDADD = -lpthread
# the same with frame pointers, as debug builds have them
tests_cli_waits_pointers_SOURCES = tests/cli/waits.c
tests_cli_waits_pointers_CFLAGS = -O0 -fno-omit-frame-pointer
tests_cli_waits_pointers_LDADD = -lpthread
if HAVE_LIBDW
check_PROGRAMS += tests/cli/unwind_peer tests/cli/unwind_steps
TRACED = tests/cli/traced.c tests/cli/traced.h
tests_cli_unwind_peer_SOURCES = tests/cli/unwind_peer.c $(TRACED)
tests_cli_unwind_peer_LDADD = $(HIDDEN_LDADD) $(LIBDW_LIBS)
tests_cli_unwind_steps_SOURCES = tests/cli/unwind_steps.c $(TRACED)
tests_cli_unwind_steps_LDADD = $(HIDDEN_LDADD)
endif
SCRIPT_TESTS += \
	tests/cli/check-annotate.sh \
	tests/cli/check-cgroup.sh \
	tests/cli/check-config.sh \
	tests/cli/check-doc-commands.sh \
	tests/cli/check-debuginfod.sh \
	tests/cli/check-diff.sh \
	tests/cli/check-doctor.sh \
	tests/cli/check-export.sh \
	tests/cli/check-export-readers.sh \
	tests/cli/check-import.sh \
	tests/cli/check-hostile.sh \
	tests/cli/check-inherited.sh \
	tests/cli/check-inlined.sh \
	tests/cli/check-label-views.sh \
	tests/cli/check-list.sh \
	tests/cli/check-completions.sh \
	tests/cli/check-made-code.sh \
	tests/cli/check-man-examples.sh \
	tests/cli/check-man-programs.sh \
	tests/cli/check-merge.sh \
	tests/cli/check-names.sh \
	tests/cli/check-names-held.sh \
	tests/cli/check-no-perf.sh \
	tests/cli/check-options.sh \
	tests/cli/check-output.sh \
	tests/cli/check-pager.sh \
	tests/cli/check-toggle.sh \
	tests/cli/check-wall-verbs.sh \
	tests/cli/check-preload.sh \
	tests/cli/check-privacy.sh \
	tests/cli/check-regions.sh \
	tests/cli/check-record-account.sh \
	tests/cli/check-record-alone.sh \
	tests/cli/check-record-attach.sh \
	tests/cli/check-record-coroutines.sh \
	tests/cli/check-record-ends.sh \
	tests/cli/check-record-errors.sh \
	tests/cli/check-record-own-labels.sh \
	tests/cli/check-record-service.sh \
	tests/cli/check-record-forks.sh \
	tests/cli/check-record-go.sh \
	tests/cli/check-record-cost.sh \
	tests/cli/check-record-killed.sh \
	tests/cli/check-record-kills.sh \
	tests/cli/check-probes.sh \
	tests/cli/check-record-labels.sh \
	tests/cli/check-record-rare.sh \
	tests/cli/check-record-rates.sh \
	tests/cli/check-record-short.sh \
	tests/cli/check-record-signals.sh \
	tests/cli/check-record-stacks.sh \
	tests/cli/check-record-switch.sh \
	tests/cli/check-record-times.sh \
	tests/cli/check-record-waits.sh \
	tests/cli/check-record-wakers.sh \
	tests/cli/check-wait-frames.sh \
	tests/cli/check-record-wait-labels.sh \
	tests/cli/check-refusals.sh \
	tests/cli/check-report.sh \
	tests/cli/check-report-tree.sh \
	tests/cli/check-record-unwind.sh \
	tests/cli/check-report-chains.sh \
	tests/cli/check-report-code.sh \
	tests/cli/check-report-header.sh \
	tests/cli/check-report-others.sh \
	tests/cli/check-report-places.sh \
	tests/cli/check-report-wall.sh \
	tests/cli/check-report-perf.sh \
	tests/cli/check-selftest.sh \
	tests/cli/check-stat.sh \
	tests/cli/check-stat-symbols.sh \
	tests/cli/check-targets.sh \
	tests/cli/check-thread-names.sh \
	tests/cli/check-unwind-peer.sh \
	tests/cli/check-unwind-steps.sh
SCRIPT_TESTS_ALL += \
	tests/cli/check-public-files.sh \
	tests/cli/check-in-step.sh \
	tests/cli/check-names-time.sh \
	tests/cli/check-names-typed.sh \
	tests/cli/check-progress.sh \
	tests/cli/check-record-beside.sh \
	tests/cli/check-record-poor.sh \
	tests/cli/check-record-shared.sh \
	tests/cli/check-browse.sh \
	tests/cli/check-ci.sh \
	tests/cli/check-screen-states.sh \
	tests/cli/check-waits-nginx.sh \
	tests/cli/check-top.sh \
	tests/cli/check-export-large.sh \
	tests/cli/check-record-real.sh
SCRIPT_TESTS_LONG += tests/cli/check-suite-machines.sh \
	tests/cli/check-waits-peer.sh
EXTRA_DIST += tests/cli/cli.sh tests/cli/wall_profile.py tests/cli/hostile.py tests/cli/otel_service.py tests/cli/otlp.py tests/cli/perf_script.py tests/cli/pprof.py tests/cli/pg_work.c tests/cli/random_kills.py tests/cli/tmux.sh tests/cli/waits_peer.py \
	tests/cli/slow_pipe.py \
	tests/cli/public_files.py \
	tests/cli/terminal.py
