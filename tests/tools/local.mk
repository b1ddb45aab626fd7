# SPDX-License-Identifier: MIT
# tests/tools/: parts of the command, each against an independent answer.

TOOLS_TEST_CPPFLAGS = $(AM_CPPFLAGS) $(PP_CMD_CFLAGS) $(CMOCKA_CFLAGS)

if TESTS_ENABLED
check_PROGRAMS += tests/tools/symbols_probe
SCRIPT_TESTS += tests/tools/check-symbols.sh
endif
EXTRA_DIST += tests/tools/tap.sh tests/tools/subject.c \
	tests/tools/subject.cc tests/tools/check-symbols.sh
tests_tools_symbols_probe_SOURCES = tests/tools/symbols_probe.c
tests_tools_symbols_probe_CPPFLAGS = $(TOOLS_TEST_CPPFLAGS)
tests_tools_symbols_probe_LDADD = libportprof-tools.la
