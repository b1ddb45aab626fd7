# SPDX-License-Identifier: MIT
# api/gmon/: the formats of gmon.out.

# gmon.out, for whatever reads or writes it: it needs the C library alone.
GMON_FILES = \
	api/gmon/gmon.h \
	api/gmon/gmon_bsd.c \
	api/gmon/gmon_layout.h \
	api/gmon/gmon_parse.c \
	api/gmon/gmon_reader.c \
	api/gmon/gmon_reader.h \
	api/gmon/gmon_tagged.c \
	api/gmon/gmon_write.c
libportprof_core_la_SOURCES += $(GMON_FILES)
