# SPDX-License-Identifier: MIT
# tests/unit/: event strings and configuration, held to tables in tests/data.

EVENT_TESTS = tests/unit/test_event_parse
if TESTS_ENABLED
check_PROGRAMS += $(EVENT_TESTS)
TESTS += $(EVENT_TESTS)
endif
EXTRA_DIST += \
	tests/data/events-bad.txt \
	tests/data/events-good.txt

tests_unit_test_event_parse_SOURCES = tests/unit/test_event_parse.c \
	tests/unit/table.h
tests_unit_test_event_parse_CPPFLAGS = $(TEST_CPPFLAGS)
tests_unit_test_event_parse_LDADD = $(TEST_LDADD)

if TESTS_ENABLED
check_PROGRAMS += tests/unit/test_config_get
TESTS += tests/unit/test_config_get
endif
tests_unit_test_config_get_SOURCES = tests/unit/test_config_get.c
tests_unit_test_config_get_CPPFLAGS = $(TEST_CPPFLAGS)
tests_unit_test_config_get_LDADD = $(TEST_LDADD)
