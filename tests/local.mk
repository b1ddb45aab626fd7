# SPDX-License-Identifier: MIT
# tests/: programs (CMocka) and scripts; every case shows in make check.
#
# A program: add it to check_PROGRAMS and TESTS under if HAVE_CMOCKA. Its source
# is the file of its name; with more, or other flags and libraries, it needs
# X_SOURCES, X_CPPFLAGS = $(TEST_CPPFLAGS) ... and X_LDADD = $(TEST_LDADD) ...
# A script: name it check-*.sh and add it to SCRIPT_TESTS.
# It finds $srcdir, $builddir, $CC, $CXX, $NM, $AWK and so on exported.
#
# The name of the list is the speed of the test:
#
#	TESTS		SCRIPT_TESTS		make check, check-all, check-long
#	TESTS_ALL	SCRIPT_TESTS_ALL	make check-all, check-long
#	TESTS_LONG	SCRIPT_TESTS_LONG	make check-long
#
# A test that repeats something asks how often: by_speed 3 20 300 in a script
# (tests/tools/tap.sh) and in C (tests/tools/speed.h) is 3 in make check, 20 in
# check-all, 300 in check-long. One test at a speed:
#
#	make check PORTPROF_SPEED=long TESTS=tests/cli/check-record-kills.sh

TEST_CPPFLAGS = $(AM_CPPFLAGS)
# Through the convenience library, so that hidden functions can be tested.
HIDDEN_LDADD = libportprof-tested.la libportprof-core.la $(PP_LIB_LIBS)
TEST_LDADD = $(HIDDEN_LDADD) $(CMOCKA_LIBS)

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
	PORTPROF_SPEED='$(PORTPROF_SPEED)'; \
	HEADER_CFLAGS='$(HEADER_CFLAGS)'; \
	TSAN_OPTIONS="die_after_fork=0 $$TSAN_OPTIONS"; export TSAN_OPTIONS; \
	export srcdir builddir CC CXX CFLAGS NM AWK SED MAKE SHELL \
		PKG_CONFIG PP_SANITIZERS PP_COVERAGE PORTPROF_SPEED \
		HEADER_CFLAGS;
HEADER_CFLAGS = $(PP_LIB_CFLAGS) $(PP_CMD_CFLAGS) $(CMOCKA_CFLAGS)

### Three speeds

PORTPROF_SPEED = check
SCRIPT_TESTS =
SCRIPT_TESTS_ALL =
SCRIPT_TESTS_LONG =
TESTS += $(SCRIPT_TESTS)
TESTS_ALL = $(SCRIPT_TESTS_ALL)
TESTS_LONG = $(SCRIPT_TESTS_LONG)
dist_check_SCRIPTS += tests/run-test.sh $(SCRIPT_TESTS) $(SCRIPT_TESTS_ALL) \
	$(SCRIPT_TESTS_LONG)
EXTRA_DIST += tests/tools/speed.h

# What computes and measures nothing: check-all runs it one by one beside the two
# tests that run at a time, on what they leave of the processors while they wait.
TESTS_BESIDE = \
	tests/fuzz/check-fuzz.sh \
	tests/sanitizers/check-address.sh \
	tests/pmu/check-pmu.sh \
	tests/pmu/check-pmu-mutants.sh \
	tests/mutation/check-mutation.sh \
	tests/install/check-tarball.sh \
	tests/install/check-bare.sh \
	tests/install/check-variables.sh \
	tests/os-headers/check-os-headers.sh \
	tests/lint/check-shell.sh

check-all:
	$(MAKE) $(AM_MAKEFLAGS) check-programs
	$(MAKE) $(AM_MAKEFLAGS) check-both PORTPROF_SPEED=all \
		TESTS='$(TESTS) $(TESTS_ALL)'

# A python3 of pyenv is a script that looks for the real one each time, five times as long
# as that takes to begin.
check-both:
	@rm -f $(TEST_SUITE_LOG) $(TEST_LOGS) $(TEST_LOGS:.log=.trs)
	@python=$$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null) && \
		[ "$$python" != "$$(command -v python3)" ] && \
		PATH=$${python%/*}:$$PATH; \
	beside= rest=; for test in $(TESTS); do \
		case " $(TESTS_BESIDE) " in \
		*" $$test "*) beside="$$beside $$test" ;; \
		*) rest="$$rest $$test" ;; \
		esac; \
	done; \
	nice $(MAKE) $(AM_MAKEFLAGS) -j1 test-logs TESTS="$$beside" & \
	trap "kill $$!" 1 2 15; \
	$(MAKE) $(AM_MAKEFLAGS) test-logs TESTS="$$rest"; wait
	@$(MAKE) $(AM_MAKEFLAGS) $(TEST_SUITE_LOG); status=$$?; \
	$(MAKE) $(AM_MAKEFLAGS) table; exit $$status

test-logs: $(TEST_LOGS)

check-long:
	$(MAKE) $(AM_MAKEFLAGS) check PORTPROF_SPEED=long \
		TESTS='$(TESTS) $(TESTS_ALL) $(TESTS_LONG)'
.PHONY: check-all check-both check-long test-logs

# Never true: here automake learns which tests need a rule.
if EVERY_SPEED
TESTS += $(TESTS_ALL) $(TESTS_LONG)
endif

### Scripts: what the tree, the library and the tarball must look like

SCRIPT_TESTS += \
	tests/lint/check-backend-page.sh \
	tests/lint/check-contract.sh \
	tests/lint/check-dist.sh \
	tests/lint/check-exports.sh \
	tests/lint/check-headers.sh \
	tests/lint/check-includes.sh \
	tests/lint/check-man.sh \
	tests/lint/check-man-functions.sh \
	tests/lint/check-circles.sh \
	tests/lint/check-calls.sh \
	tests/lint/check-layout.sh \
	tests/lint/check-names.sh \
	tests/lint/check-order.sh \
	tests/lint/check-perf-page.sh \
	tests/lint/check-runner.sh \
	tests/lint/check-settings.sh \
	tests/lint/check-walks.sh \
	tests/lint/check-words.sh \
	tests/lint/check-shell.sh \
	tests/install/check-install.sh \
	tests/install/check-quickstart.sh
SCRIPT_TESTS_ALL += \
	tests/install/check-bare.sh \
	tests/install/check-variables.sh \
	tests/install/check-tarball.sh \
	tests/memory/check-leaks.sh
SCRIPT_TESTS_LONG += tests/install/check-bmake.sh tests/install/check-static.sh \
	tests/install/check-without.sh
EXTRA_DIST += \
	tests/install/build.sh tests/install/consumer.c tests/memory/libpfm4.supp

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

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_version
TESTS += tests/unit/test_version
endif

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_core tests/unit/test_helper \
	tests/unit/test_hist tests/unit/test_modules tests/unit/test_pump
TESTS += tests/unit/test_core tests/unit/test_helper \
	tests/unit/test_hist tests/unit/test_modules tests/unit/test_pump
endif

check_PROGRAMS += tests/memory/cycles
tests_memory_cycles_LDADD = libportprof.la

include tests/sim/local.mk
include tests/sim/profil.mk
include tests/tools/local.mk
include tests/unit/local.mk
include tests/unit/file.mk
include tests/unit/unwind.mk
include tests/conform/local.mk
include tests/cross/local.mk
include tests/mutation/local.mk
include tests/os-headers/local.mk
include tests/fuzz/local.mk
include tests/sanitizers/local.mk
include tests/pmu/local.mk
include tests/vm/local.mk
include tests/fixtures/perf.mk
include tests/exec/local.mk
include tests/fleet/local.mk
include tests/fixtures/local.mk
include tests/cli/local.mk
include tests/dropin/local.mk
include tests/callback/local.mk
include tests/odd/local.mk
include tests/html/local.mk
include tests/matrix/local.mk
include tests/plugin/local.mk
include tests/fortran/local.mk
include tests/python/local.mk
include tests/rust/local.mk
include tests/package/local.mk
