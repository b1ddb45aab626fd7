# SPDX-License-Identifier: MIT
# tests/sim/profil_*: simulated kernels with profil(2) and pcsample(2).

PROFIL_TESTS = \
	tests/unit/test_cpu_clock \
	tests/unit/test_no_perf \
	tests/unit/test_own_ticks \
	tests/unit/test_pcbins \
	tests/unit/test_profil \
	tests/unit/test_profil_equal \
	tests/unit/test_profil_guards \
	tests/unit/test_profil_sim \
	tests/unit/test_profil_sim_run \
	tests/unit/test_solaris \
	tests/unit/test_solaris_pcsample
if HAVE_CMOCKA
check_LTLIBRARIES += tests/sim/libprofilsim.la
check_PROGRAMS += $(PROFIL_TESTS)
TESTS += $(PROFIL_TESTS)
endif

tests_sim_libprofilsim_la_SOURCES = \
	tests/sim/profil_run.c \
	tests/sim/profil_run.h \
	tests/sim/profil_seam.c \
	tests/sim/profil_seam.h \
	tests/sim/profil_sim.c \
	tests/sim/profil_sim.h \
	tests/sim/profil_sim_os.c \
	tests/sim/profil_sim_tick.c
tests_sim_libprofilsim_la_CPPFLAGS = $(TEST_CPPFLAGS)

tests_unit_test_cpu_clock_SOURCES = tests/unit/test_cpu_clock.c \
	tests/unit/profil_kit.c tests/unit/profil_kit.h
tests_unit_test_cpu_clock_LDADD = tests/sim/libprofilsim.la $(TEST_LDADD)

tests_unit_test_no_perf_SOURCES = tests/unit/test_no_perf.c \
	tests/unit/profil_kit.c tests/unit/profil_kit.h
tests_unit_test_no_perf_LDADD = tests/sim/libprofilsim.la \
	tests/sim/libtimersim.la $(TEST_LDADD)

tests_unit_test_own_ticks_SOURCES = tests/unit/test_own_ticks.c \
	tests/unit/profil_kit.c tests/unit/profil_kit.h
tests_unit_test_own_ticks_LDADD = tests/sim/libprofilsim.la $(TEST_LDADD)

tests_unit_test_profil_sim_SOURCES = tests/unit/test_profil_sim.c \
	tests/unit/profil_sim_kit.c tests/unit/profil_sim_kit.h
tests_unit_test_profil_sim_LDADD = tests/sim/libprofilsim.la $(TEST_LDADD)

tests_unit_test_profil_sim_run_SOURCES = tests/unit/test_profil_sim_run.c \
	tests/unit/profil_sim_kit.c tests/unit/profil_sim_kit.h
tests_unit_test_profil_sim_run_LDADD = tests/sim/libprofilsim.la $(TEST_LDADD)

tests_unit_test_profil_SOURCES = tests/unit/test_profil.c \
	tests/unit/profil_kit.c tests/unit/profil_kit.h
tests_unit_test_profil_LDADD = tests/sim/libprofilsim.la $(TEST_LDADD)

tests_unit_test_profil_guards_SOURCES = tests/unit/test_profil_guards.c \
	tests/unit/profil_kit.c tests/unit/profil_kit.h
tests_unit_test_profil_guards_LDADD = tests/sim/libprofilsim.la $(TEST_LDADD)

tests_unit_test_solaris_SOURCES = tests/unit/test_solaris.c \
	tests/unit/solaris_kit.c tests/unit/solaris_kit.h
tests_unit_test_solaris_LDADD = tests/sim/libprofilsim.la $(TEST_LDADD)

tests_unit_test_solaris_pcsample_SOURCES = \
	tests/unit/test_solaris_pcsample.c \
	tests/unit/solaris_kit.c tests/unit/solaris_kit.h
tests_unit_test_solaris_pcsample_LDADD = tests/sim/libprofilsim.la \
	$(TEST_LDADD)

tests_unit_test_profil_equal_SOURCES = tests/unit/test_profil_equal.c \
	tests/model/expect.c tests/model/expect.h
tests_unit_test_profil_equal_LDADD = tests/sim/libprofilsim.la $(TEST_LDADD)

### Fixtures over them

PROFIL_FIXTURE_LIBS = tests/fixtures/libprofilprogram.la \
	tests/sim/libprofilsim.la $(CONFORM_LDADD)
PROFIL_FIXTURES = \
	tests/conform/conform_profil_freebsd_sim \
	tests/conform/conform_profil_netbsd_sim \
	tests/conform/conform_profil_openbsd_sim \
	tests/conform/conform_profil_dragonfly_sim \
	tests/conform/conform_profil_glibc_sim \
	tests/conform/conform_solaris_pcsample_sim \
	tests/conform/conform_solaris_profil_sim
if HAVE_CMOCKA
check_LTLIBRARIES += tests/fixtures/libprofilprogram.la
check_PROGRAMS += $(PROFIL_FIXTURES)
TESTS += $(PROFIL_FIXTURES)
endif

tests_fixtures_libprofilprogram_la_SOURCES = \
	tests/fixtures/profil_program.c \
	tests/fixtures/profil_program.h
tests_fixtures_libprofilprogram_la_CPPFLAGS = $(TEST_CPPFLAGS)

tests_conform_conform_profil_freebsd_sim_SOURCES = tests/fixtures/profil_freebsd_sim.c
tests_conform_conform_profil_freebsd_sim_LDADD = $(PROFIL_FIXTURE_LIBS)

tests_conform_conform_profil_netbsd_sim_SOURCES = tests/fixtures/profil_netbsd_sim.c
tests_conform_conform_profil_netbsd_sim_LDADD = $(PROFIL_FIXTURE_LIBS)

tests_conform_conform_profil_openbsd_sim_SOURCES = tests/fixtures/profil_openbsd_sim.c
tests_conform_conform_profil_openbsd_sim_LDADD = $(PROFIL_FIXTURE_LIBS)

tests_conform_conform_profil_dragonfly_sim_SOURCES = tests/fixtures/profil_dragonfly_sim.c
tests_conform_conform_profil_dragonfly_sim_LDADD = $(PROFIL_FIXTURE_LIBS)

tests_conform_conform_profil_glibc_sim_SOURCES = tests/fixtures/profil_glibc_sim.c
tests_conform_conform_profil_glibc_sim_LDADD = $(PROFIL_FIXTURE_LIBS)

tests_conform_conform_solaris_pcsample_sim_SOURCES = tests/fixtures/solaris_pcsample_sim.c
tests_conform_conform_solaris_pcsample_sim_LDADD = $(PROFIL_FIXTURE_LIBS)

tests_conform_conform_solaris_profil_sim_SOURCES = tests/fixtures/solaris_profil_sim.c
tests_conform_conform_solaris_profil_sim_LDADD = $(PROFIL_FIXTURE_LIBS)

### And over the system's own

if BACKEND_PROFIL
pkglibexec_PROGRAMS += tests/conform/conform_profil_real
TESTS_ALL += tests/conform/conform_profil_real
endif
tests_conform_conform_profil_real_SOURCES = tests/fixtures/profil_real.c \
	tests/fixtures/real_profil.c tests/fixtures/real_profil.h \
	compat/exec/exec_wrap.c
tests_conform_conform_profil_real_CPPFLAGS = $(TEST_CPPFLAGS) -DPPI_WRAP_EXEC
tests_conform_conform_profil_real_LDADD = $(REAL_LDADD)
