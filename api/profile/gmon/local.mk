# SPDX-License-Identifier: MIT
# api/profile/gmon/: the formats of gmon.out.

# gmon.out, for whatever reads or writes it: it needs the C library alone.
GMON_FILES = \
	api/profile/gmon/gmon.h \
	api/profile/gmon/gmon_read.c \
	api/profile/gmon/gmon_write.c
libportprof_core_la_SOURCES += $(GMON_FILES)
