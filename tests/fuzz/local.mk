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

# A program of its name each; only the unwinder's has more. check-fuzz.sh says what makes
# it a fuzzer.
FUZZ_LIBS =
FUZZ_LDADD = tests/fuzz/libfuzz.la libportprof-fuzzed.la libportprof-core.la \
	$(FUZZ_LIBS) $(PP_LIB_LIBS)
tests_fuzz_fuzz_config_LDADD = $(FUZZ_LDADD)
tests_fuzz_fuzz_elf_LDADD = $(FUZZ_LDADD)
tests_fuzz_fuzz_event_LDADD = $(FUZZ_LDADD)
tests_fuzz_fuzz_gmon_LDADD = $(FUZZ_LDADD)
tests_fuzz_fuzz_import_LDADD = $(FUZZ_LDADD)
tests_fuzz_fuzz_jit_LDADD = $(FUZZ_LDADD)
tests_fuzz_fuzz_jitdump_LDADD = $(FUZZ_LDADD)
tests_fuzz_fuzz_profile_LDADD = $(FUZZ_LDADD)
tests_fuzz_fuzz_unwind_SOURCES = tests/fuzz/fuzz_unwind.c $(UNWIND_KIT)
tests_fuzz_fuzz_unwind_LDADD = $(FUZZ_LDADD)

EXTRA_LTLIBRARIES = libportprof-fuzzed.la tests/fuzz/libfuzz.la
tests_fuzz_libfuzz_la_SOURCES = tests/fuzz/fuzz.c tests/fuzz/fuzz.h

# Of the command only what reads files of others: the rest of it would be compiled in
# vain. Built where there are libelf and libdw (check-fuzz.sh).
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
	tools/symbols/symbols_unpacked.c \
	tools/symbols/symbols_words.c
libportprof_fuzzed_la_CPPFLAGS = $(AM_CPPFLAGS) $(PP_CMD_CFLAGS)
libportprof_fuzzed_la_LIBADD = libportprof-base.la $(PP_CMD_LIBS)

# An hour each, on demand: make -C build fuzz FUZZ_SECONDS=3600
FUZZ_SECONDS = 3600
fuzz:
	$(AM_TESTS_ENVIRONMENT) FUZZ_SECONDS='$(FUZZ_SECONDS)' \
		$(SHELL) $(srcdir)/tests/fuzz/check-fuzz.sh

distclean-local: distclean-fuzz
distclean-fuzz:
	rm -rf fuzz
.PHONY: fuzz distclean-fuzz
