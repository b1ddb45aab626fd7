# SPDX-License-Identifier: MIT
# tests/tools/: parts of the command, each against an independent answer.

TOOLS_TEST_CPPFLAGS = $(AM_CPPFLAGS) $(PP_CMD_CFLAGS) $(CMOCKA_CFLAGS) \
	-I$(srcdir)/tests/tools
TOOLS_TEST_LDADD = libportprof-tools.la libportprof.la $(CMOCKA_LIBS)

if HAVE_CMOCKA
check_PROGRAMS += \
	tests/tools/bsd_command \
	tests/tools/symbols_probe \
	tests/tools/test_cgroup_find \
	tests/tools/test_origin \
	tests/tools/test_doctor \
	tests/tools/test_preload_settings \
	tests/tools/test_remedy \
	tests/tools/test_report \
	tests/tools/test_report_chains \
	tests/tools/test_report_rows \
	tests/tools/test_short_name \
	tests/tools/test_stat \
	tests/tools/test_symbols_table
TESTS += \
	tests/tools/test_cgroup_find \
	tests/tools/test_origin \
	tests/tools/test_doctor \
	tests/tools/test_preload_settings \
	tests/tools/test_remedy \
	tests/tools/test_report \
	tests/tools/test_report_chains \
	tests/tools/test_report_rows \
	tests/tools/test_short_name \
	tests/tools/test_stat \
	tests/tools/test_symbols_table
SCRIPT_TESTS += tests/tools/check-lines.sh tests/tools/check-symbols.sh
endif
SCRIPT_TESTS += tests/tools/check-bindings.sh tests/tools/check-examples.sh
EXTRA_DIST += tests/tools/libtool.sh tests/tools/shell.sh tests/tools/tap.sh tests/tools/subject.c \
	tests/tools/subject.cc tests/tools/check-symbols.sh
tests_tools_symbols_probe_CPPFLAGS = $(TOOLS_TEST_CPPFLAGS)
tests_tools_symbols_probe_LDADD = libportprof-tools.la

# With the library's insides, so that its kernels can be simulated.
tests_tools_bsd_command_LDADD = libportprof-tools.la \
	tests/sim/libprofilsim.la tests/sim/libtimersim.la $(TEST_LDADD)

tests_tools_test_cgroup_find_CPPFLAGS = $(TOOLS_TEST_CPPFLAGS)
tests_tools_test_cgroup_find_LDADD = $(TOOLS_TEST_LDADD)
tests_tools_test_origin_CPPFLAGS = $(TOOLS_TEST_CPPFLAGS)
tests_tools_test_origin_LDADD = $(TOOLS_TEST_LDADD)
FAKE_ROOT = tests/tools/fake_root.c tests/tools/fake_root.h
tests_tools_test_remedy_SOURCES = tests/tools/test_remedy.c $(FAKE_ROOT)
tests_tools_test_doctor_SOURCES = tests/tools/test_doctor.c $(FAKE_ROOT)
tests_tools_test_remedy_CPPFLAGS = $(TOOLS_TEST_CPPFLAGS)
tests_tools_test_remedy_LDADD = $(TOOLS_TEST_LDADD)

# The library for its words; the fake profile goes before the real one, in a build
# without shared libraries, too.
FAKE_LDFLAGS = $(AM_LDFLAGS) -Wl,-z,muldefs
tests_tools_test_report_SOURCES = tests/tools/test_report.c \
	tests/tools/fake_profile.c tests/tools/fake_profile.h
tests_tools_test_report_CPPFLAGS = $(TOOLS_TEST_CPPFLAGS)
tests_tools_test_report_LDFLAGS = $(FAKE_LDFLAGS)
tests_tools_test_report_LDADD = $(TOOLS_TEST_LDADD)

tests_tools_test_report_rows_SOURCES = tests/tools/test_report_rows.c \
	tests/tools/fake_profile.c tests/tools/fake_profile.h
tests_tools_test_report_rows_CPPFLAGS = $(TOOLS_TEST_CPPFLAGS)
tests_tools_test_report_rows_LDFLAGS = $(FAKE_LDFLAGS)
tests_tools_test_report_rows_LDADD = $(TOOLS_TEST_LDADD)
tests_tools_test_report_chains_SOURCES = tests/tools/test_report_chains.c \
	tests/tools/fake_profile.c tests/tools/fake_profile.h
tests_tools_test_report_chains_CPPFLAGS = $(TOOLS_TEST_CPPFLAGS)
tests_tools_test_report_chains_LDFLAGS = $(FAKE_LDFLAGS)
tests_tools_test_report_chains_LDADD = $(TOOLS_TEST_LDADD)
tests_tools_test_doctor_CPPFLAGS = $(TOOLS_TEST_CPPFLAGS)
tests_tools_test_doctor_LDADD = $(TOOLS_TEST_LDADD)

tests_tools_test_short_name_CPPFLAGS = $(TOOLS_TEST_CPPFLAGS)
tests_tools_test_short_name_LDADD = $(TOOLS_TEST_LDADD)

tests_tools_test_stat_CPPFLAGS = $(TOOLS_TEST_CPPFLAGS)
tests_tools_test_stat_LDADD = $(TOOLS_TEST_LDADD)

tests_tools_test_symbols_table_CPPFLAGS = $(TOOLS_TEST_CPPFLAGS)
tests_tools_test_symbols_table_LDADD = $(TOOLS_TEST_LDADD)

tests_tools_test_preload_settings_SOURCES = \
	tests/tools/test_preload_settings.c tools/preload/settings.c
tests_tools_test_preload_settings_CPPFLAGS = $(TOOLS_TEST_CPPFLAGS)
tests_tools_test_preload_settings_LDADD = libportprof-base.la $(CMOCKA_LIBS)
