# SPDX-License-Identifier: MIT
# tests/sim/profil_*: simulated kernels with profil(2) and pcsample(2).

if TESTS_ENABLED
check_LTLIBRARIES += tests/sim/libprofilsim.la
check_PROGRAMS += tests/unit/test_profil_sim
TESTS += tests/unit/test_profil_sim
endif

tests_sim_libprofilsim_la_SOURCES = \
	tests/sim/profil_run.c \
	tests/sim/profil_run.h \
	tests/sim/profil_sim.c \
	tests/sim/profil_sim.h \
	tests/sim/profil_sim_os.c \
	tests/sim/profil_sim_tick.c
tests_sim_libprofilsim_la_CPPFLAGS = $(TEST_CPPFLAGS)

tests_unit_test_profil_sim_SOURCES = tests/unit/test_profil_sim.c
tests_unit_test_profil_sim_CPPFLAGS = $(TEST_CPPFLAGS)
tests_unit_test_profil_sim_LDADD = tests/sim/libprofilsim.la $(TEST_LDADD)
