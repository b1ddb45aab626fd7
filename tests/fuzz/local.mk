# SPDX-License-Identifier: MIT
# tests/fuzz/: a libFuzzer program for each reader of what others wrote. They
# are built by check-fuzz.sh, in a build of its own, with clang.

FUZZERS = \
	tests/fuzz/fuzz_config \
	tests/fuzz/fuzz_elf \
	tests/fuzz/fuzz_event \
	tests/fuzz/fuzz_gmon \
	tests/fuzz/fuzz_import \
	tests/fuzz/fuzz_jit \
	tests/fuzz/fuzz_jitdump \
	tests/fuzz/fuzz_profile \
	tests/fuzz/fuzz_unwind
EXTRA_PROGRAMS += $(FUZZERS)
SCRIPT_TESTS_ALL += tests/fuzz/check-fuzz.sh
EXTRA_DIST += tests/fuzz/corpus tests/fuzz/README.md

FUZZ_CPPFLAGS = $(AM_CPPFLAGS) $(PATH_CPPFLAGS) $(PP_LIB_CFLAGS) \
	$(PP_CMD_CFLAGS)
FUZZ_LINK = $(AM_LDFLAGS) -fsanitize=fuzzer
FUZZ_LDADD = libportprof-fuzzed.la libportprof-core.la $(PP_LIB_LIBS)

# Of the command only what reads files of others: the rest of it would be compiled in
# vain. Built where there are libelf and libdw (check-fuzz.sh).
EXTRA_LTLIBRARIES = libportprof-fuzzed.la
libportprof_fuzzed_la_SOURCES = \
	tools/doctor/doctor_elf.c \
	tools/symbols/symbols_download.c \
	tools/symbols/symbols_dwarf.c \
	tools/symbols/symbols_elf.c \
	tools/symbols/symbols_file.c \
	tools/symbols/symbols_find.c \
	tools/symbols/symbols_go.c \
	tools/symbols/symbols_held.c \
	tools/symbols/symbols_jit.c \
	tools/symbols/symbols_jitdump.c \
	tools/symbols/symbols_kept.c \
	tools/symbols/symbols_table.c \
	tools/symbols/symbols_words.c
libportprof_fuzzed_la_CPPFLAGS = $(FUZZ_CPPFLAGS)
libportprof_fuzzed_la_LIBADD = libportprof-base.la $(PP_CMD_LIBS)
FUZZ_COMMON = tests/fuzz/fuzz.c tests/fuzz/fuzz.h
tests_fuzz_fuzz_config_SOURCES = tests/fuzz/fuzz_config.c $(FUZZ_COMMON)
tests_fuzz_fuzz_config_CPPFLAGS = $(FUZZ_CPPFLAGS)
tests_fuzz_fuzz_config_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_fuzz_config_LDADD = $(FUZZ_LDADD)
tests_fuzz_fuzz_elf_SOURCES = tests/fuzz/fuzz_elf.c $(FUZZ_COMMON)
tests_fuzz_fuzz_elf_CPPFLAGS = $(FUZZ_CPPFLAGS)
tests_fuzz_fuzz_elf_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_fuzz_elf_LDADD = $(FUZZ_LDADD)
tests_fuzz_fuzz_event_SOURCES = tests/fuzz/fuzz_event.c $(FUZZ_COMMON)
tests_fuzz_fuzz_event_CPPFLAGS = $(FUZZ_CPPFLAGS)
tests_fuzz_fuzz_event_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_fuzz_event_LDADD = $(FUZZ_LDADD)
tests_fuzz_fuzz_gmon_SOURCES = tests/fuzz/fuzz_gmon.c $(FUZZ_COMMON)
tests_fuzz_fuzz_gmon_CPPFLAGS = $(FUZZ_CPPFLAGS)
tests_fuzz_fuzz_gmon_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_fuzz_gmon_LDADD = $(FUZZ_LDADD)
tests_fuzz_fuzz_import_SOURCES = tests/fuzz/fuzz_import.c $(FUZZ_COMMON)
tests_fuzz_fuzz_import_CPPFLAGS = $(FUZZ_CPPFLAGS)
tests_fuzz_fuzz_import_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_fuzz_import_LDADD = $(FUZZ_LDADD)
tests_fuzz_fuzz_jit_SOURCES = tests/fuzz/fuzz_jit.c $(FUZZ_COMMON)
tests_fuzz_fuzz_jit_CPPFLAGS = $(FUZZ_CPPFLAGS)
tests_fuzz_fuzz_jit_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_fuzz_jit_LDADD = $(FUZZ_LDADD)
tests_fuzz_fuzz_jitdump_SOURCES = tests/fuzz/fuzz_jitdump.c $(FUZZ_COMMON)
tests_fuzz_fuzz_jitdump_CPPFLAGS = $(FUZZ_CPPFLAGS)
tests_fuzz_fuzz_jitdump_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_fuzz_jitdump_LDADD = $(FUZZ_LDADD)
tests_fuzz_fuzz_profile_SOURCES = tests/fuzz/fuzz_profile.c $(FUZZ_COMMON)
tests_fuzz_fuzz_profile_CPPFLAGS = $(FUZZ_CPPFLAGS)
tests_fuzz_fuzz_profile_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_fuzz_profile_LDADD = $(FUZZ_LDADD)
tests_fuzz_fuzz_unwind_SOURCES = tests/fuzz/fuzz_unwind.c $(UNWIND_KIT) \
	$(FUZZ_COMMON)
tests_fuzz_fuzz_unwind_CPPFLAGS = $(FUZZ_CPPFLAGS)
tests_fuzz_fuzz_unwind_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_fuzz_unwind_LDADD = $(FUZZ_LDADD)

# An hour each, on demand: make -C build fuzz FUZZ_SECONDS=3600
FUZZ_SECONDS = 3600
fuzz:
	$(AM_TESTS_ENVIRONMENT) FUZZ_SECONDS='$(FUZZ_SECONDS)' \
		$(SHELL) $(srcdir)/tests/fuzz/check-fuzz.sh

distclean-local: distclean-fuzz
distclean-fuzz:
	rm -rf fuzz
.PHONY: fuzz distclean-fuzz
