# SPDX-License-Identifier: MIT
# tests/sim/: simulated kernels, and the tests of the timer backends on them.

include tests/sim/perf.mk

if TESTS_ENABLED
check_PROGRAMS += tests/unit/test_pcring
TESTS += tests/unit/test_pcring
endif
tests_unit_test_pcring_SOURCES = tests/unit/test_pcring.c
tests_unit_test_pcring_CPPFLAGS = $(TEST_CPPFLAGS)
tests_unit_test_pcring_LDADD = $(TEST_LDADD)
