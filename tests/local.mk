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
	export srcdir builddir CC CXX CFLAGS NM AWK SED MAKE SHELL \
		PKG_CONFIG PP_SANITIZERS;
dist_check_SCRIPTS += tests/run-test.sh

if TESTS_ENABLED
check_PROGRAMS += tests/unit/test_version
TESTS += tests/unit/test_version
endif
tests_unit_test_version_SOURCES = tests/unit/test_version.c
tests_unit_test_version_CPPFLAGS = $(TEST_CPPFLAGS)
tests_unit_test_version_LDADD = $(TEST_LDADD)
