# SPDX-License-Identifier: MIT
# tests/unit/: stacks unwound.

UNWIND_KIT = tests/unit/unwind_kit.c tests/unit/unwind_kit.h
UNWIND_TESTS = tests/unit/test_code_end tests/unit/test_unwind
if UNWIND_TABLES
UNWIND_TESTS += tests/unit/test_frame_table
endif
if HAVE_CMOCKA
check_PROGRAMS += $(UNWIND_TESTS)
TESTS += $(UNWIND_TESTS)
endif
tests_unit_test_unwind_SOURCES = tests/unit/test_unwind.c $(UNWIND_KIT)
tests_unit_test_frame_table_SOURCES = tests/unit/test_frame_table.c $(UNWIND_KIT)
