# SPDX-License-Identifier: MIT
# tests/dropin/: the drop-in library, by its parts, on simulated kernels, and
# under programs that know nothing of it.

# Linked with the C library alone, which must have what it calls.
if TESTS_ENABLED
if HAVE_SPROFIL
check_PROGRAMS += tests/dropin/caller
SCRIPT_TESTS += tests/dropin/check-dropin.sh tests/dropin/check-monstartup.sh
endif
endif
tests_dropin_caller_SOURCES = tests/dropin/caller.c
tests_dropin_caller_CPPFLAGS =
tests_dropin_caller_LDADD =

EXTRA_DIST += tests/dropin/called.c

DROPIN_TESTS = \
	tests/dropin/test_rules
if TESTS_ENABLED
check_PROGRAMS += $(DROPIN_TESTS)
TESTS += $(DROPIN_TESTS)
endif
DROPIN_LDADD = libportprof-dropin.la $(TEST_LDADD)
tests_dropin_test_rules_SOURCES = tests/dropin/test_rules.c
tests_dropin_test_rules_CPPFLAGS = $(TEST_CPPFLAGS)
tests_dropin_test_rules_LDADD = $(DROPIN_LDADD)
