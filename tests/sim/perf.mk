# SPDX-License-Identifier: MIT
# The simulated perf kernel, and the tests of the perf backend on it.

PERF_SIM = \
	tests/sim/labels.c \
	tests/sim/labels.h \
	tests/sim/perf_sim.c \
	tests/sim/perf_sim.h \
	tests/sim/perf_sim_call.c \
	tests/sim/perf_sim_cgroup.c \
	tests/sim/perf_sim_check.c \
	tests/sim/perf_sim_inherit.c \
	tests/sim/perf_sim_open.c \
	tests/sim/perf_sim_proc.c \
	tests/sim/perf_sim_program.c \
	tests/sim/perf_sim_ring.c \
	tests/sim/perf_sim_run.c \
	tests/sim/perf_sim_tracefs.c \
	tests/sim/perf_sim_user.c \
	tests/sim/perf_sim_state.h
EXTRA_DIST += tests/sim/perf.mk

PERF_TESTS = \
	tests/unit/test_perf_ring \
	tests/unit/test_perf_decode \
	tests/unit/test_perf_weight \
	tests/unit/test_perf_attr \
	tests/unit/test_perf_session \
	tests/unit/test_perf_account \
	tests/unit/test_perf_facts \
	tests/unit/test_perf_threads \
	tests/unit/test_perf_count \
	tests/unit/test_perf_fields \
	tests/unit/test_perf_stacks \
	tests/unit/test_perf_values \
	tests/unit/test_perf_place \
	tests/unit/test_perf_precise \
	tests/unit/test_perf_beat \
	tests/unit/test_perf_rate \
	tests/unit/test_perf_hybrid \
	tests/unit/test_perf_hybrid_sample \
	tests/unit/test_perf_refuse \
	tests/unit/test_perf_report \
	tests/unit/test_perf_steer \
	tests/unit/test_perf_sysfs \
	tests/unit/test_perf_system \
	tests/unit/test_perf_family \
	tests/unit/test_perf_late \
	tests/unit/test_perf_raw \
	tests/unit/test_perf_clocks \
	tests/unit/test_perf_tails \
	tests/unit/test_perf_traced \
	tests/unit/test_perf_user \
	tests/unit/test_perf_user_page \
	tests/unit/test_event_group \
	tests/unit/test_group_closed \
	tests/unit/test_group_open \
	tests/unit/test_group_threads \
	tests/unit/test_preset \
	tests/unit/test_regions tests/unit/test_region_labels

if HAVE_CMOCKA
if HAVE_PERF_HEADERS
check_LTLIBRARIES += tests/sim/libperfsim.la
check_PROGRAMS += $(PERF_TESTS)
TESTS += $(PERF_TESTS)
endif
endif
tests_sim_libperfsim_la_SOURCES = $(PERF_SIM) tests/unit/perf_run.c \
	tests/unit/perf_run.h
tests_sim_libperfsim_la_CPPFLAGS = $(TEST_CPPFLAGS)
PERF_CASE = tests/unit/perf_case.c tests/unit/perf_case.h
PERF_SIM_LDADD = tests/sim/libperfsim.la $(TEST_LDADD)

tests_unit_test_perf_ring_LDADD = $(PERF_SIM_LDADD)

tests_unit_test_perf_decode_LDADD = $(PERF_SIM_LDADD)

tests_unit_test_perf_weight_LDADD = $(PERF_SIM_LDADD)

tests_unit_test_perf_attr_LDADD = $(PERF_SIM_LDADD)

tests_unit_test_perf_session_SOURCES = tests/unit/test_perf_session.c \
	$(PERF_CASE)
tests_unit_test_perf_session_LDADD = $(PERF_SIM_LDADD)

tests_unit_test_perf_account_SOURCES = tests/unit/test_perf_account.c \
	$(PERF_CASE)
tests_unit_test_perf_account_LDADD = $(PERF_SIM_LDADD)

tests_unit_test_perf_facts_LDADD = $(PERF_SIM_LDADD)

tests_unit_test_perf_threads_SOURCES = tests/unit/test_perf_threads.c \
	$(PERF_CASE)
tests_unit_test_perf_threads_LDADD = $(PERF_SIM_LDADD)

tests_unit_test_perf_system_SOURCES = tests/unit/test_perf_system.c \
	$(PERF_CASE)
tests_unit_test_perf_system_LDADD = $(PERF_SIM_LDADD)

tests_unit_test_perf_family_SOURCES = tests/unit/test_perf_family.c \
	$(PERF_CASE)
tests_unit_test_perf_family_LDADD = $(PERF_SIM_LDADD)
tests_unit_test_perf_late_SOURCES = tests/unit/test_perf_late.c \
	$(PERF_CASE)
tests_unit_test_perf_late_LDADD = $(PERF_SIM_LDADD)
tests_unit_test_perf_raw_SOURCES = tests/unit/test_perf_raw.c \
	$(PERF_CASE)
tests_unit_test_perf_raw_LDADD = $(PERF_SIM_LDADD)
tests_unit_test_perf_clocks_SOURCES = tests/unit/test_perf_clocks.c \
	$(PERF_CASE)
tests_unit_test_perf_clocks_LDADD = $(PERF_SIM_LDADD)
tests_unit_test_perf_tails_SOURCES = tests/unit/test_perf_tails.c \
	$(PERF_CASE)
tests_unit_test_perf_tails_LDADD = $(PERF_SIM_LDADD)
tests_unit_test_perf_traced_SOURCES = tests/unit/test_perf_traced.c \
	$(PERF_CASE)
tests_unit_test_perf_traced_LDADD = $(PERF_SIM_LDADD)

tests_unit_test_perf_count_LDADD = $(PERF_SIM_LDADD)

tests_unit_test_perf_refuse_LDADD = $(PERF_SIM_LDADD)

tests_unit_test_perf_place_SOURCES = tests/unit/test_perf_place.c \
	tests/tools/speed.h

tests_unit_test_perf_steer_SOURCES = tests/unit/test_perf_steer.c \
	$(PERF_CASE)
tests_unit_test_perf_steer_LDADD = $(PERF_SIM_LDADD)

tests_unit_test_perf_sysfs_LDADD = $(PERF_SIM_LDADD)

# With registers of their own: their perf_user.c comes before the one in the
# library.
PERF_USER = tests/unit/user_cpu.c tests/unit/user_cpu.h \
	backends/perf/counts/perf_user.c
tests_unit_test_perf_user_SOURCES = tests/unit/test_perf_user.c $(PERF_USER)
tests_unit_test_perf_user_CPPFLAGS = $(TEST_CPPFLAGS) -DPERF_USER_SIMULATED
tests_unit_test_perf_user_LDADD = $(PERF_SIM_LDADD)

tests_unit_test_perf_user_page_SOURCES = tests/unit/test_perf_user_page.c \
	$(PERF_USER)
tests_unit_test_perf_user_page_CPPFLAGS = $(TEST_CPPFLAGS) \
	-DPERF_USER_SIMULATED
tests_unit_test_perf_user_page_LDADD = $(PERF_SIM_LDADD)

tests_unit_test_preset_LDADD = $(PERF_SIM_LDADD)
REGION_CASE = tests/unit/region_case.c tests/unit/region_case.h
tests_unit_test_regions_SOURCES = tests/unit/test_regions.c $(REGION_CASE)
tests_unit_test_region_labels_SOURCES = tests/unit/test_region_labels.c \
	$(REGION_CASE)
tests_unit_test_regions_LDADD = $(PERF_SIM_LDADD)
tests_unit_test_region_labels_LDADD = $(PERF_SIM_LDADD)

tests_unit_test_perf_hybrid_LDADD = $(PERF_SIM_LDADD)

tests_unit_test_perf_hybrid_sample_SOURCES = \
	tests/unit/test_perf_hybrid_sample.c
tests_unit_test_perf_hybrid_sample_LDADD = $(PERF_SIM_LDADD)

tests_unit_test_event_group_LDADD = $(PERF_SIM_LDADD)

tests_unit_test_group_closed_LDADD = $(PERF_SIM_LDADD)
tests_unit_test_group_open_LDADD = $(PERF_SIM_LDADD)
tests_unit_test_group_threads_LDADD = $(PERF_SIM_LDADD)

tests_unit_test_perf_fields_LDADD = $(PERF_SIM_LDADD)

tests_unit_test_perf_stacks_LDADD = $(PERF_SIM_LDADD)

tests_unit_test_perf_values_LDADD = $(PERF_SIM_LDADD)

tests_unit_test_perf_report_SOURCES = tests/unit/test_perf_report.c \
	$(PERF_CASE)
tests_unit_test_perf_report_LDADD = $(PERF_SIM_LDADD)
tests_unit_test_perf_beat_SOURCES = tests/unit/test_perf_beat.c \
	$(PERF_CASE)
tests_unit_test_perf_beat_LDADD = $(PERF_SIM_LDADD)
tests_unit_test_perf_rate_SOURCES = tests/unit/test_perf_rate.c \
	$(PERF_CASE)
tests_unit_test_perf_rate_LDADD = $(PERF_SIM_LDADD)
tests_unit_test_perf_precise_LDADD = $(PERF_SIM_LDADD)
