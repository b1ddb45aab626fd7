# SPDX-License-Identifier: MIT
# tests/: programs (CMocka) and scripts; every case shows in make check.
#
# A program: add it to check_PROGRAMS and TESTS under if TESTS_ENABLED, with
# X_SOURCES, X_CPPFLAGS = $(TEST_CPPFLAGS) and X_LDADD = $(TEST_LDADD).
# A script: name it check-*.sh, add it to dist_check_SCRIPTS and TESTS.
# It finds $srcdir, $builddir, $CC, $CXX, $NM, $AWK and so on exported.

TEST_CPPFLAGS = $(AM_CPPFLAGS) $(PATH_CPPFLAGS) $(PP_LIB_CFLAGS) \
	$(CMOCKA_CFLAGS)
# Through the convenience library, so that hidden functions can be tested.
TEST_LDADD = libportprof-core.la $(CMOCKA_LIBS)

TEST_EXTENSIONS = .sh
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) \
	$(top_srcdir)/build-aux/tap-driver.sh
SH_LOG_DRIVER = $(LOG_DRIVER)
LOG_COMPILER = $(SHELL) $(srcdir)/tests/run-test.sh
SH_LOG_COMPILER = $(LOG_COMPILER)
AM_TESTS_ENVIRONMENT = \
	srcdir='$(abs_srcdir)'; builddir='$(abs_builddir)'; \
	CC='$(CC)'; CXX='$(CXX)'; CFLAGS='$(CFLAGS)'; NM='$(NM)'; \
	AWK='$(AWK)'; SED='$(SED)'; MAKE='$(MAKE)'; SHELL='$(SHELL)'; \
	PKG_CONFIG='$(PKG_CONFIG)'; PP_SANITIZERS='$(PP_SANITIZERS)'; \
	PP_COVERAGE='$(PP_COVERAGE)'; \
	HEADER_CFLAGS='$(HEADER_CFLAGS)'; \
	TSAN_OPTIONS="die_after_fork=0 $$TSAN_OPTIONS"; export TSAN_OPTIONS; \
	export srcdir builddir CC CXX CFLAGS NM AWK SED MAKE SHELL \
		PKG_CONFIG PP_SANITIZERS PP_COVERAGE HEADER_CFLAGS;
HEADER_CFLAGS = $(PP_LIB_CFLAGS) $(PP_CMD_CFLAGS) $(CMOCKA_CFLAGS)
dist_check_SCRIPTS += tests/run-test.sh $(SCRIPT_TESTS)
TESTS += $(SCRIPT_TESTS)

### Scripts: what the tree, the library and the tarball must look like

SCRIPT_TESTS = \
	tests/lint/check-contract.sh \
	tests/lint/check-dist.sh \
	tests/lint/check-exports.sh \
	tests/lint/check-headers.sh \
	tests/lint/check-includes.sh \
	tests/lint/check-man.sh \
	tests/lint/check-man-functions.sh \
	tests/lint/check-order.sh \
	tests/lint/check-runner.sh \
	tests/lint/check-shell.sh \
	tests/install/check-install.sh \
	tests/install/check-quickstart.sh \
	tests/install/check-tarball.sh \
	tests/memory/check-leaks.sh
EXTRA_DIST += tests/lint/exports-allowed.txt \
	tests/install/consumer.c tests/memory/libpfm4.supp

# Everything that make check would build, with as many jobs as there are, so
# that the tests themselves can run alone.
check-programs: $(BUILT_SOURCES) $(check_LTLIBRARIES) $(check_PROGRAMS)
.PHONY: check-programs

# What stands in $(prefix) now works for someone who only has that; distcheck
# runs this against a tarball's installation.
installcheck-local:
	$(AM_TESTS_ENVIRONMENT) installed='$(DESTDIR)' libdir='$(libdir)' \
		bindir='$(bindir)' $(SHELL) $(srcdir)/tests/install/check-install.sh

### Programs

if TESTS_ENABLED
check_PROGRAMS += tests/unit/test_version
TESTS += tests/unit/test_version
endif
tests_unit_test_version_SOURCES = tests/unit/test_version.c
tests_unit_test_version_CPPFLAGS = $(TEST_CPPFLAGS)
tests_unit_test_version_LDADD = $(TEST_LDADD)

if TESTS_ENABLED
check_PROGRAMS += tests/unit/test_core tests/unit/test_helper \
	tests/unit/test_hist
TESTS += tests/unit/test_core tests/unit/test_helper \
	tests/unit/test_hist
endif
tests_unit_test_core_SOURCES = tests/unit/test_core.c
tests_unit_test_core_CPPFLAGS = $(TEST_CPPFLAGS)
tests_unit_test_core_LDADD = $(TEST_LDADD)
tests_unit_test_helper_SOURCES = tests/unit/test_helper.c
tests_unit_test_helper_CPPFLAGS = $(TEST_CPPFLAGS)
tests_unit_test_helper_LDADD = $(TEST_LDADD)
tests_unit_test_hist_SOURCES = tests/unit/test_hist.c
tests_unit_test_hist_CPPFLAGS = $(TEST_CPPFLAGS)
tests_unit_test_hist_LDADD = $(TEST_LDADD)

check_PROGRAMS += tests/memory/cycles
tests_memory_cycles_SOURCES = tests/memory/cycles.c
tests_memory_cycles_LDADD = libportprof.la

include tests/sim/local.mk
include tests/sim/profil.mk
include tests/tools/local.mk
include tests/unit/local.mk
include tests/unit/file.mk
include tests/conform/local.mk
include tests/cross/local.mk
include tests/mutation/local.mk
include tests/os-headers/local.mk
include tests/pmu/local.mk
include tests/vm/local.mk
include tests/fixtures/perf.mk
include tests/exec/local.mk
include tests/fixtures/local.mk
include tests/cli/local.mk
include tests/dropin/local.mk
