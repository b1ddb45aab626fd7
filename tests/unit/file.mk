# SPDX-License-Identifier: MIT
# tests/unit/: profile files. The kit plays a session, so no backend is needed.

FILE_TESTS = \
	tests/unit/test_file_format \
	tests/unit/test_file_hostile \
	tests/unit/test_file_memory \
	tests/unit/test_file_merge \
	tests/unit/test_file_output \
	tests/unit/test_file_pool \
	tests/unit/test_file_property \
	tests/unit/test_file_read \
	tests/unit/test_file_returns \
	tests/unit/test_file_writer \
	tests/unit/test_label_texts \
	tests/unit/test_sample_labels
FILE_KIT = tests/unit/file_kit.c tests/unit/file_kit.h
if HAVE_CMOCKA
if PROFILE_FILE
check_PROGRAMS += $(FILE_TESTS) tests/unit/file_make
TESTS += $(FILE_TESTS)
endif
endif
tests_unit_test_file_format_SOURCES = tests/unit/test_file_format.c $(FILE_KIT)
tests_unit_test_file_memory_SOURCES = tests/unit/test_file_memory.c $(FILE_KIT) \
	tests/memory/alloc.c tests/memory/alloc.h
tests_unit_test_file_memory_LDFLAGS = $(AM_LDFLAGS) $(WRAP_LDFLAGS)
tests_unit_test_file_merge_SOURCES = tests/unit/test_file_merge.c $(FILE_KIT)
tests_unit_test_file_output_SOURCES = tests/unit/test_file_output.c $(FILE_KIT)
tests_unit_test_file_property_SOURCES = tests/unit/test_file_property.c $(FILE_KIT) \
	tests/unit/file_model.c tests/unit/file_model.h
tests_unit_test_file_read_SOURCES = tests/unit/test_file_read.c $(FILE_KIT)
tests_unit_test_file_returns_SOURCES = tests/unit/test_file_returns.c $(FILE_KIT)
tests_unit_test_file_writer_SOURCES = tests/unit/test_file_writer.c $(FILE_KIT)
tests_unit_file_make_SOURCES = tests/unit/file_make.c $(FILE_KIT) \
	tests/unit/file_model.c tests/unit/file_model.h

dist_check_SCRIPTS += tests/unit/check-pprof.sh
TESTS += tests/unit/check-pprof.sh
EXTRA_DIST += tests/unit/pprof-raw.awk

# gmon.out, which needs none of the libraries that profile files need.
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_gmon tests/unit/test_gmon_profile
TESTS += tests/unit/test_gmon tests/unit/test_gmon_profile
endif
tests_unit_test_gmon_SOURCES = tests/unit/test_gmon.c tests/unit/gmon_make.c \
	tests/unit/gmon_make.h
tests_unit_test_gmon_profile_SOURCES = tests/unit/test_gmon_profile.c \
	tests/unit/gmon_make.c tests/unit/gmon_make.h
