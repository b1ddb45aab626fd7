# SPDX-License-Identifier: MIT
# tests/dropin/: the drop-in library, by its parts, on simulated kernels, and
# under programs that know nothing of it.

# Linked with the C library alone, which must have what it calls.
if HAVE_CMOCKA
if HAVE_SPROFIL
check_PROGRAMS += tests/dropin/caller
SCRIPT_TESTS_ALL += tests/dropin/check-dropin.sh tests/dropin/check-forks.sh \
	tests/dropin/check-glibc.sh tests/dropin/check-monstartup.sh
endif
endif
SCRIPT_TESTS_ALL += tests/dropin/check-gperftools.sh tests/dropin/check-papi.sh
tests_dropin_caller_CPPFLAGS =
tests_dropin_caller_LDADD =

EXTRA_DIST += tests/dropin/atfork_lock.c tests/dropin/called.c \
	tests/dropin/forker.c tests/dropin/gperftools_user.c \
	tests/dropin/papi_user.c

DROPIN_TESTS = \
	tests/dropin/stress \
	tests/dropin/test_parts \
	tests/dropin/test_rules
if HAVE_CMOCKA
check_PROGRAMS += $(DROPIN_TESTS)
TESTS += $(DROPIN_TESTS)
endif
DROPIN_LDADD = libportprof-dropin.la $(TEST_LDADD)

if HAVE_CMOCKA
if HAVE_PERF_HEADERS
check_PROGRAMS += tests/dropin/test_papi
TESTS += tests/dropin/test_papi
endif
endif
tests_dropin_test_papi_SOURCES = tests/dropin/test_papi.c $(PAPI_FILES)
tests_dropin_test_papi_CPPFLAGS = $(TEST_CPPFLAGS)
tests_dropin_test_papi_LDADD = $(PERF_SIM_LDADD)
tests_dropin_test_rules_LDADD = $(DROPIN_LDADD)

### The suite, over the fixtures of tests/conform

DROPIN_SIM = \
	tests/dropin/on_profil_freebsd_sim \
	tests/dropin/on_profil_netbsd_sim \
	tests/dropin/on_profil_openbsd_sim \
	tests/dropin/on_profil_dragonfly_sim \
	tests/dropin/on_profil_glibc_sim \
	tests/dropin/on_solaris_pcsample_sim \
	tests/dropin/on_solaris_profil_sim \
	tests/dropin/on_timer_sim \
	tests/dropin/on_itimer_sim
DROPIN_REAL =
if BACKEND_PERF
DROPIN_SIM += tests/dropin/on_perf_sim
DROPIN_REAL += tests/dropin/on_perf_real
endif
if BACKEND_TIMER
DROPIN_REAL += tests/dropin/on_timer_real
endif
if BACKEND_ITIMER
DROPIN_REAL += tests/dropin/on_itimer_real
endif
if HAVE_CMOCKA
noinst_LTLIBRARIES += tests/dropin/libsuite.la
check_PROGRAMS += $(DROPIN_SIM) $(DROPIN_REAL)
TESTS += $(DROPIN_SIM)
TESTS_ALL += $(DROPIN_REAL)
endif
tests_dropin_libsuite_la_SOURCES = tests/dropin/suite.c \
	tests/dropin/suite.h tests/dropin/suite_others.c
tests_dropin_libsuite_la_CPPFLAGS = $(TEST_CPPFLAGS)

ON_PROFIL_LDADD = tests/dropin/libsuite.la tests/fixtures/libprofilprogram.la \
	tests/sim/libprofilsim.la $(DROPIN_LDADD)
ON_TIMER_LDADD = tests/dropin/libsuite.la tests/sim/libtimersim.la \
	$(DROPIN_LDADD) $(WRAP_RING_LDFLAGS)
ON_REAL_LDADD = tests/dropin/libsuite.la tests/fixtures/libreal.la \
	$(DROPIN_LDADD)
tests_dropin_on_profil_freebsd_sim_SOURCES = tests/fixtures/profil_freebsd_sim.c
tests_dropin_on_profil_freebsd_sim_LDADD = $(ON_PROFIL_LDADD)
tests_dropin_on_profil_netbsd_sim_SOURCES = tests/fixtures/profil_netbsd_sim.c
tests_dropin_on_profil_netbsd_sim_LDADD = $(ON_PROFIL_LDADD)
tests_dropin_on_profil_openbsd_sim_SOURCES = tests/fixtures/profil_openbsd_sim.c
tests_dropin_on_profil_openbsd_sim_LDADD = $(ON_PROFIL_LDADD)
tests_dropin_on_profil_dragonfly_sim_SOURCES = tests/fixtures/profil_dragonfly_sim.c
tests_dropin_on_profil_dragonfly_sim_LDADD = $(ON_PROFIL_LDADD)
tests_dropin_on_profil_glibc_sim_SOURCES = tests/fixtures/profil_glibc_sim.c
tests_dropin_on_profil_glibc_sim_LDADD = $(ON_PROFIL_LDADD)
tests_dropin_on_solaris_pcsample_sim_SOURCES = tests/fixtures/solaris_pcsample_sim.c
tests_dropin_on_solaris_pcsample_sim_LDADD = $(ON_PROFIL_LDADD)
tests_dropin_on_solaris_profil_sim_SOURCES = tests/fixtures/solaris_profil_sim.c
tests_dropin_on_solaris_profil_sim_LDADD = $(ON_PROFIL_LDADD)
tests_dropin_on_timer_sim_SOURCES = tests/fixtures/timer_sim.c
tests_dropin_on_timer_sim_LDADD = $(ON_TIMER_LDADD)
tests_dropin_on_itimer_sim_SOURCES = tests/fixtures/itimer_sim.c $(ITIMER_PROGRAM)
tests_dropin_on_itimer_sim_LDADD = $(ON_TIMER_LDADD)
tests_dropin_on_perf_sim_SOURCES = tests/fixtures/perf_sim.c
tests_dropin_on_perf_sim_LDADD = tests/dropin/libsuite.la \
	tests/sim/libperfsim.la $(DROPIN_LDADD)
tests_dropin_on_perf_real_SOURCES = tests/fixtures/perf_real.c
tests_dropin_on_perf_real_LDADD = $(ON_REAL_LDADD)
tests_dropin_on_timer_real_SOURCES = tests/fixtures/timer_real.c
tests_dropin_on_timer_real_LDADD = $(ON_REAL_LDADD)
tests_dropin_on_itimer_real_SOURCES = tests/fixtures/itimer_real.c
tests_dropin_on_itimer_real_LDADD = $(ON_REAL_LDADD)

tests_dropin_stress_LDADD = $(DROPIN_LDADD)
tests_dropin_test_parts_LDADD = $(DROPIN_LDADD)
