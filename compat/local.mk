# SPDX-License-Identifier: MIT
# compat/: small stand-ins for what a C library lacks.

libportprof_core_la_SOURCES += \
	compat/environment.c \
	compat/environment.h \
	compat/clock_ns.h \
	compat/context_pc.c \
	compat/context_pc.h \
	compat/elf_w.h \
	compat/exec/exec_hooks.h \
	compat/fork_guard.c \
	compat/fork_guard.h \
	compat/library.c \
	compat/library.h \
	compat/pages.h \
	compat/scale.h \
	compat/text_list.c \
	compat/text_list.h \
	compat/thread.c \
	compat/thread.h \
	compat/thread_list.c \
	compat/thread_list.h

# gmon.out, for whatever reads or writes it: it needs the C library alone.
GMON_FILES = \
	compat/gmon/gmon.h \
	compat/gmon/gmon_bsd.c \
	compat/gmon/gmon_layout.h \
	compat/gmon/gmon_parse.c \
	compat/gmon/gmon_reader.c \
	compat/gmon/gmon_reader.h \
	compat/gmon/gmon_tagged.c \
	compat/gmon/gmon_write.c
libportprof_core_la_SOURCES += $(GMON_FILES)

# Not in the convenience library: only what is loaded as a shared object may
# wrap functions of the C library.
libportprof_la_SOURCES += compat/exec/exec_wrap.c

include compat/drop-in/local.mk
