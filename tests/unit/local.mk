# SPDX-License-Identifier: MIT
# tests/unit/: event strings and configuration, held to tables in tests/data.

EVENT_TESTS = \
	tests/unit/test_config_file \
	tests/unit/test_config_sinks \
	tests/unit/test_config_text \
	tests/unit/test_event_explain \
	tests/unit/test_event_parse \
	tests/unit/test_man_backends \
	tests/unit/test_man_examples \
	tests/unit/test_reasons \
	tests/unit/test_scale \
	tests/unit/test_text_mutants
if HAVE_PERF_HEADERS
EVENT_TESTS += \
	tests/unit/test_event_names \
	tests/unit/test_event_names_bare \
	tests/unit/test_event_tables
endif
if HAVE_CMOCKA
check_PROGRAMS += $(EVENT_TESTS)
TESTS += $(EVENT_TESTS)
endif
EXTRA_DIST += \
	tests/data/config-bad.txt \
	tests/data/config-good.txt \
	tests/data/events-bad.txt \
	tests/data/events-good.txt \
	tests/data/events-perf-bad.txt \
	tests/data/events-perf-good.txt \
	tests/data/events-known.txt \
	tests/data/events-unknown-libpfm4.txt \
	tests/data/events-unknown.txt \
	tests/data/short-names.txt

# With a system folder that a test can write to: its own config_file.c comes
# before the one in the library.
tests_unit_test_config_file_SOURCES = tests/unit/test_config_file.c \
	api/core/config_file.c
tests_unit_test_config_file_CPPFLAGS = $(TEST_CPPFLAGS) -UPPI_SYSCONFDIR \
	-DPPI_SYSCONFDIR='"etc"'

tests_unit_test_config_text_SOURCES = tests/unit/test_config_text.c \
	tests/unit/table.h

tests_unit_test_text_mutants_SOURCES = tests/unit/test_text_mutants.c \
	tests/unit/table.h

tests_unit_test_event_parse_SOURCES = tests/unit/test_event_parse.c \
	tests/unit/table.h

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_config_get
TESTS += tests/unit/test_config_get
endif

tests_unit_test_event_names_SOURCES = tests/unit/test_event_names.c \
	tests/unit/table.h
tests_unit_test_event_names_LDADD = $(TEST_LDADD) $(LIBPFM4_LIBS)

# As if libpfm4 had not been found: its own perf_tables.c comes before the one
# in the library.
tests_unit_test_event_names_bare_SOURCES = tests/unit/test_event_names.c \
	tests/unit/table.h backends/perf/events/perf_tables.c
tests_unit_test_event_names_bare_CPPFLAGS = $(TEST_CPPFLAGS) \
	-DPPI_WITHOUT_LIBPFM4

tests_unit_test_event_tables_LDADD = $(TEST_LDADD) $(LIBPFM4_LIBS)

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_exit tests/unit/test_filter \
	tests/unit/test_group_process tests/unit/test_held \
	tests/unit/test_label tests/unit/test_label_clock \
	tests/unit/test_label_find tests/unit/test_label_look \
	tests/unit/test_library tests/unit/test_otel \
	tests/unit/test_kept_chains \
	tests/unit/test_processes \
	tests/unit/test_otel_reach tests/unit/test_waits \
	tests/unit/test_waits_files tests/unit/test_waits_frames \
	tests/unit/test_waits_idle tests/unit/test_charges
TESTS += tests/unit/test_exit tests/unit/test_filter \
	tests/unit/test_group_process tests/unit/test_held \
	tests/unit/test_label tests/unit/test_label_clock \
	tests/unit/test_label_find tests/unit/test_label_look \
	tests/unit/test_library tests/unit/test_otel \
	tests/unit/test_kept_chains \
	tests/unit/test_processes \
	tests/unit/test_otel_reach tests/unit/test_waits \
	tests/unit/test_waits_files tests/unit/test_waits_frames \
	tests/unit/test_waits_idle tests/unit/test_charges
endif
# A tracing library in the program, and one that is loaded late.
tests_unit_test_otel_reach_SOURCES = tests/unit/test_otel_reach.c \
	tests/fixtures/otel_hand.h
tests_unit_test_otel_reach_LDFLAGS = $(AM_LDFLAGS) -rdynamic
if SHARED
check_LTLIBRARIES += tests/unit/otel_plugin.la
tests_unit_otel_plugin_la_SOURCES = tests/unit/otel_plugin.c
tests_unit_otel_plugin_la_LDFLAGS = $(PLUGIN_LINK)
endif
WAITS_RUN = tests/unit/waits_run.c tests/unit/waits_run.h
tests_unit_test_waits_SOURCES = tests/unit/test_waits.c $(WAITS_RUN)
tests_unit_test_waits_files_SOURCES = tests/unit/test_waits_files.c \
	$(WAITS_RUN)
tests_unit_test_waits_frames_SOURCES = tests/unit/test_waits_frames.c \
	$(WAITS_RUN)
tests_unit_test_waits_idle_SOURCES = tests/unit/test_waits_idle.c $(WAITS_RUN)
tests_unit_test_charges_SOURCES = tests/unit/test_charges.c $(WAITS_RUN)
