# SPDX-License-Identifier: MIT
# The rusage backend: its simulated accounts, the suite on them and on this
# machine's, and its tests.

if BACKEND_RUSAGE
if HAVE_CMOCKA
check_LTLIBRARIES += tests/sim/librusagesim.la
check_PROGRAMS += $(RUSAGE_SIM_TESTS)
TESTS += $(RUSAGE_SIM_TESTS)
endif
pkglibexec_PROGRAMS += tests/conform/conform_rusage_real
TESTS += tests/conform/conform_rusage_real
endif
RUSAGE_SIM_TESTS = \
	tests/conform/conform_rusage_sim \
	tests/conform/conform_rusage_freebsd_sim \
	tests/conform/conform_rusage_illumos_sim \
	tests/conform/conform_rusage_netbsd_sim \
	tests/conform/conform_rusage_openbsd_sim

tests_sim_librusagesim_la_SOURCES = \
	tests/fixtures/rusage_program.c \
	tests/fixtures/rusage_program.h \
	tests/sim/rusage_sim.c \
	tests/sim/rusage_sim.h
tests_sim_librusagesim_la_CPPFLAGS = $(TEST_CPPFLAGS)
RUSAGE_SIM_LDADD = tests/sim/librusagesim.la $(MACHINE_LDADD)

tests_conform_conform_rusage_sim_SOURCES = tests/fixtures/rusage_sim.c
tests_conform_conform_rusage_sim_LDADD = $(RUSAGE_SIM_LDADD)
tests_conform_conform_rusage_freebsd_sim_SOURCES = tests/fixtures/rusage_freebsd_sim.c
tests_conform_conform_rusage_freebsd_sim_LDADD = $(RUSAGE_SIM_LDADD)
tests_conform_conform_rusage_illumos_sim_SOURCES = tests/fixtures/rusage_illumos_sim.c
tests_conform_conform_rusage_illumos_sim_LDADD = $(RUSAGE_SIM_LDADD)
tests_conform_conform_rusage_netbsd_sim_SOURCES = tests/fixtures/rusage_netbsd_sim.c
tests_conform_conform_rusage_netbsd_sim_LDADD = $(RUSAGE_SIM_LDADD)
tests_conform_conform_rusage_openbsd_sim_SOURCES = tests/fixtures/rusage_openbsd_sim.c
tests_conform_conform_rusage_openbsd_sim_LDADD = $(RUSAGE_SIM_LDADD)

tests_conform_conform_rusage_real_SOURCES = tests/fixtures/rusage_real.c
tests_conform_conform_rusage_real_LDADD = $(REAL_LDADD)
