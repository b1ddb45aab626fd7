# SPDX-License-Identifier: MIT
# tests/pmu/: hardware counters, on the PMU of an emulated arm64 machine.

# Compiled wherever events can be counted, so that they go with the library;
# run in the guest alone, where counts are exact.
PMU_TESTS = tests/pmu/pmu_command tests/pmu/pmu_count tests/pmu/pmu_sample \
	tests/pmu/pmu_scope tests/pmu/pmu_share tests/pmu/pmu_user \
	tests/pmu/pmu_unwind
if HAVE_CMOCKA
if BACKEND_PERF
check_PROGRAMS += $(PMU_TESTS)
SCRIPT_TESTS_ALL += tests/pmu/check-pmu.sh tests/pmu/check-pmu-mutants.sh
# Not beside each other: they build and boot in one folder.
tests/pmu/check-pmu-mutants.log: tests/pmu/check-pmu.log
endif
endif
PMU_LAB = tests/pmu/lab.c tests/pmu/lab_session.c tests/pmu/lab.h
tests_pmu_pmu_count_SOURCES = tests/pmu/pmu_count.c $(PMU_LAB)
tests_pmu_pmu_share_SOURCES = tests/pmu/pmu_share.c $(PMU_LAB)
tests_pmu_pmu_sample_SOURCES = tests/pmu/pmu_sample.c $(PMU_LAB)
tests_pmu_pmu_user_SOURCES = tests/pmu/pmu_user.c $(PMU_LAB)
tests_pmu_pmu_command_SOURCES = tests/pmu/pmu_command.c $(PMU_LAB)
tests_pmu_pmu_scope_SOURCES = tests/pmu/pmu_scope.c $(PMU_LAB)
tests_pmu_pmu_unwind_SOURCES = tests/pmu/pmu_unwind.c $(PMU_LAB)
tests_pmu_pmu_unwind_CFLAGS = $(AM_CFLAGS) -fomit-frame-pointer \
	-fasynchronous-unwind-tables -fno-builtin-ffsll

dist_check_SCRIPTS += tests/pmu/run
EXTRA_DIST += tests/pmu/README.md tests/pmu/guest.sh tests/pmu/init.c tests/pmu/mutants.awk \
	tests/pmu/mutants.sh tests/pmu/mutants.txt tests/pmu/results.awk

# What goes into the guest, in the build that tests/pmu/run makes for it.
pmu-programs: $(PMU_TESTS) tests/conform/conform_perf_real \
	tests/unit/test_event_tables tests/unit/test_unwind \
	tests/unit/test_frame_table tests/unit/test_file_returns

# How it compiles and how it links what the lab makes wrong.
pmu-flags:
	@echo '$(CC) $(DEFS) $(AM_CPPFLAGS) $(PATH_CPPFLAGS) $(PP_LIB_CFLAGS) $(CPPFLAGS) $(CFLAGS)'
	@echo '$(LDFLAGS) $(CMOCKA_LIBS) $(PP_LIB_LIBS) $(LIBS)'

check-pmu:
	@$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/pmu/check-pmu.sh && \
		$(SHELL) $(srcdir)/tests/pmu/check-pmu-mutants.sh

check-pmu-mutants:
	@$(AM_TESTS_ENVIRONMENT) $(SHELL) \
		$(srcdir)/tests/pmu/check-pmu-mutants.sh

# Before the tests, with all processors. Where it fails the test says so.
check-programs: pmu-guest
pmu-guest:
	@test '$(build_triplet)' != '$(host_triplet)' || \
		test '$(PP_SANITIZERS)$(PP_COVERAGE)' != nono || \
		$(srcdir)/tests/pmu/run --build >/dev/null 2>&1 || :
.PHONY: pmu-programs pmu-flags check-pmu check-pmu-mutants pmu-guest

distclean-local:
	rm -rf pmu
