# SPDX-License-Identifier: MIT
# tests/unit/: stacks unwound.

UNWIND_KIT = tests/unit/unwind_kit.c tests/unit/unwind_kit.h
UNWIND_TESTS = tests/unit/test_unwind
if HAVE_CMOCKA
check_PROGRAMS += $(UNWIND_TESTS)
TESTS += $(UNWIND_TESTS)
endif
tests_unit_test_unwind_SOURCES = tests/unit/test_unwind.c $(UNWIND_KIT)
