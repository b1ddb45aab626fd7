# SPDX-License-Identifier: MIT
# tests/conform/: the one suite, linked once with each fixture.
#
# A fixture NAME is tests/fixtures/NAME.c and these lines, under if
# TESTS_ENABLED and whatever it needs to be built:
#
#	check_PROGRAMS += tests/conform/conform_NAME
#	TESTS += tests/conform/conform_NAME
#	tests_conform_conform_NAME_SOURCES = tests/fixtures/NAME.c
#	tests_conform_conform_NAME_CPPFLAGS = $(TEST_CPPFLAGS)
#	tests_conform_conform_NAME_LDADD = $(CONFORM_LDADD)
#
# with $(REAL_LDADD) in place of $(CONFORM_LDADD) for a real kernel.

### The program under measurement of real fixtures

if TESTS_ENABLED
check_LTLIBRARIES += tests/fixtures/libreal.la
endif
tests_fixtures_libreal_la_SOURCES = \
	tests/conform/fixture.h \
	tests/fixtures/real_burn.c \
	tests/fixtures/real_burn.h \
	tests/fixtures/real_held.c \
	tests/fixtures/real_held.h \
	tests/fixtures/real_program.c \
	tests/fixtures/real_program.h
tests_fixtures_libreal_la_CPPFLAGS = $(TEST_CPPFLAGS)
