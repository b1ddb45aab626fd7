# SPDX-License-Identifier: MIT
# tests/sim/: simulated kernels, and the tests of the timer backends on them.

include tests/sim/perf.mk
include tests/sim/rusage.mk

### The machine and the kernels

if HAVE_CMOCKA
check_LTLIBRARIES += tests/sim/libtimersim.la
endif
tests_sim_libtimersim_la_SOURCES = \
	tests/sim/clock.c \
	tests/sim/clock.h \
	tests/sim/faults.c \
	tests/sim/faults.h \
	tests/sim/itimer_sim.c \
	tests/sim/itimer_sim.h \
	tests/sim/labels.c \
	tests/sim/labels.h \
	tests/sim/lose.c \
	tests/sim/lose.h \
	tests/sim/program.c \
	tests/sim/program.h \
	tests/sim/session.c \
	tests/sim/session.h \
	tests/sim/signals.c \
	tests/sim/signals.h \
	tests/sim/timer_sim.c \
	tests/sim/timer_sim.h
tests_sim_libtimersim_la_CPPFLAGS = $(TEST_CPPFLAGS)

### Tests

if HAVE_CMOCKA
check_PROGRAMS += $(TIMER_TESTS)
TESTS += $(TIMER_TESTS)
endif
TIMER_TESTS = \
	tests/unit/test_dither \
	tests/unit/test_itimer \
	tests/unit/test_pcring \
	tests/unit/test_share \
	tests/unit/test_tick_ring \
	tests/unit/test_timer \
	tests/unit/test_timer_signal
tests_unit_test_dither_LDADD = tests/sim/libtimersim.la $(TEST_LDADD)
TIMER_KIT = tests/unit/timer_kit.c tests/unit/timer_kit.h
tests_unit_test_timer_SOURCES = tests/unit/test_timer.c $(TIMER_KIT)
tests_unit_test_timer_LDADD = tests/sim/libtimersim.la $(TEST_LDADD)
tests_unit_test_itimer_LDADD = tests/sim/libtimersim.la $(TEST_LDADD)
tests_unit_test_timer_signal_SOURCES = tests/unit/test_timer_signal.c $(TIMER_KIT)
tests_unit_test_timer_signal_LDADD = tests/sim/libtimersim.la $(TEST_LDADD)
