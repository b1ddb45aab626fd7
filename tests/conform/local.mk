# SPDX-License-Identifier: MIT
# tests/conform/: the one suite, linked once with each fixture.
#
# A fixture NAME is tests/fixtures/NAME.c and these lines, under if with whatever it
# needs to be built; a simulated kernel that is CMocka's too under HAVE_CMOCKA:
#
#	check_PROGRAMS += tests/conform/conform_NAME
#	TESTS += tests/conform/conform_NAME
#	tests_conform_conform_NAME_SOURCES = tests/fixtures/NAME.c
#	tests_conform_conform_NAME_LDADD = $(CONFORM_LDADD)
#
# A simulated kernel on the machine of tests/sim has $(MACHINE_LDADD) in place of
# $(CONFORM_LDADD); a kernel in a file of its own is one more of SOURCES. A real
# kernel has $(REAL_LDADD), and pkglibexec_PROGRAMS in place of check_PROGRAMS: it is
# installed, because portprof selftest runs all conform_*_real that it finds there.

### The program under measurement of real fixtures

noinst_LTLIBRARIES += tests/fixtures/libreal.la
tests_fixtures_libreal_la_SOURCES = \
	tests/conform/fixture.h \
	tests/fixtures/real_burn.c \
	tests/fixtures/real_burn.h \
	tests/fixtures/real_held.c \
	tests/fixtures/real_held.h \
	tests/fixtures/real_program.c \
	tests/fixtures/real_program.h \
	tests/fixtures/real_sigprof.c \
	tests/fixtures/real_sigprof.h \
	tests/fixtures/spent.h
tests_fixtures_libreal_la_CPPFLAGS = $(TEST_CPPFLAGS)

### The suite

noinst_LTLIBRARIES += tests/conform/libconform.la
check_PROGRAMS += tests/conform/conform_null
TESTS += tests/conform/conform_null
SCRIPT_TESTS += tests/conform/check-null.sh
EXTRA_DIST += tests/conform/check-null.sh
tests_conform_libconform_la_SOURCES = \
	tests/conform/assert.c \
	tests/conform/assert.h \
	tests/conform/claim.c \
	tests/conform/code.c \
	tests/conform/conform.c \
	tests/conform/conform.h \
	tests/conform/count.c \
	tests/conform/cycle.c \
	tests/conform/error.c \
	tests/conform/event.c \
	tests/conform/excl.c \
	tests/conform/fault.c \
	tests/conform/fork.c \
	tests/conform/group.c \
	tests/conform/hist.c \
	tests/conform/label.c \
	tests/conform/life.c \
	tests/conform/loss.c \
	tests/conform/main.c \
	tests/conform/memory.c \
	tests/conform/occurrence.c \
	tests/conform/program.c \
	tests/conform/random.c \
	tests/conform/range.c \
	tests/conform/sample.c \
	tests/conform/scale.c \
	tests/conform/select.c \
	tests/conform/share.c \
	tests/conform/signal.c \
	tests/conform/sink.c \
	tests/conform/target.c \
	tests/conform/thread.c \
	tests/conform/times.c \
	tests/conform/wait.c \
	tests/fixtures/knobs.c \
	tests/memory/alloc.c \
	tests/memory/alloc.h \
	tests/model/expect.c \
	tests/model/expect.h
tests_conform_libconform_la_CPPFLAGS = $(TEST_CPPFLAGS)

CONFORM_LDADD = tests/conform/libconform.la $(HIDDEN_LDADD) $(WRAP_LDFLAGS)
MACHINE_LDADD = tests/sim/libtimersim.la $(CONFORM_LDADD)
REAL_LDADD = tests/fixtures/libreal.la $(CONFORM_LDADD)

tests_conform_conform_null_SOURCES = tests/fixtures/null.c
tests_conform_conform_null_LDADD = $(CONFORM_LDADD)

# After all tests, and on demand: which clause holds on which fixture.
dist_check_SCRIPTS += tests/conform/table.sh

table:
	@AWK='$(AWK)' $(SHELL) $(srcdir)/tests/conform/table.sh
.PHONY: table

if HAVE_CMOCKA
check-local: check-TESTS
	@AWK='$(AWK)' $(SHELL) $(srcdir)/tests/conform/table.sh
endif

### What portprof selftest makes of a program's lines

if HAVE_CMOCKA
check_PROGRAMS += tests/tools/test_selftest
TESTS += tests/tools/test_selftest
endif
tests_tools_test_selftest_CPPFLAGS = $(TOOLS_TEST_CPPFLAGS)
tests_tools_test_selftest_LDADD = $(TOOLS_TEST_LDADD)

### The model that judges

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_expect
TESTS += tests/unit/test_expect
endif
tests_unit_test_expect_SOURCES = \
	tests/model/expect.c \
	tests/model/expect.h \
	tests/unit/test_expect.c
tests_unit_test_expect_LDADD = $(CMOCKA_LIBS)
