# SPDX-License-Identifier: MIT
# tests/unit/: profile files. The kit plays a session, so no backend is needed.

FILE_TESTS = tests/unit/test_file_writer
FILE_KIT = tests/unit/file_kit.c tests/unit/file_kit.h
if TESTS_ENABLED
if PROFILE_FILE
check_PROGRAMS += $(FILE_TESTS)
TESTS += $(FILE_TESTS)
endif
endif
tests_unit_test_file_writer_SOURCES = tests/unit/test_file_writer.c $(FILE_KIT)
tests_unit_test_file_writer_CPPFLAGS = $(TEST_CPPFLAGS)
tests_unit_test_file_writer_LDADD = $(TEST_LDADD)
