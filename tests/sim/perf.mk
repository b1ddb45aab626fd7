# SPDX-License-Identifier: MIT
# The simulated perf kernel, and the tests of the perf backend on it.

PERF_SIM = \
	tests/sim/perf_sim.c \
	tests/sim/perf_sim.h \
	tests/sim/perf_sim_call.c \
	tests/sim/perf_sim_check.c \
	tests/sim/perf_sim_inherit.c \
	tests/sim/perf_sim_open.c \
	tests/sim/perf_sim_proc.c \
	tests/sim/perf_sim_program.c \
	tests/sim/perf_sim_ring.c \
	tests/sim/perf_sim_run.c \
	tests/sim/perf_sim_state.h
EXTRA_DIST += tests/sim/perf.mk

if TESTS_ENABLED
if HAVE_PERF_HEADERS
check_LTLIBRARIES += tests/sim/libperfsim.la
check_PROGRAMS += tests/unit/test_perf_session
TESTS += tests/unit/test_perf_session
endif
endif
tests_sim_libperfsim_la_SOURCES = $(PERF_SIM) tests/unit/perf_run.c \
	tests/unit/perf_run.h
tests_sim_libperfsim_la_CPPFLAGS = $(TEST_CPPFLAGS)
PERF_SIM_LDADD = tests/sim/libperfsim.la $(TEST_LDADD)

tests_unit_test_perf_session_SOURCES = tests/unit/test_perf_session.c
tests_unit_test_perf_session_CPPFLAGS = $(TEST_CPPFLAGS)
tests_unit_test_perf_session_LDADD = $(PERF_SIM_LDADD)
