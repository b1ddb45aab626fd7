# SPDX-License-Identifier: MIT
# api/profile/gmon/: the formats of gmon.out.

# gmon.out, for whatever reads or writes it: it needs the C library alone.
GMON_FILES = \
	api/profile/gmon/gmon.h \
	api/profile/gmon/gmon_bsd.c \
	api/profile/gmon/gmon_layout.h \
	api/profile/gmon/gmon_parse.c \
	api/profile/gmon/gmon_reader.c \
	api/profile/gmon/gmon_reader.h \
	api/profile/gmon/gmon_tagged.c \
	api/profile/gmon/gmon_write.c
libportprof_core_la_SOURCES += $(GMON_FILES)
