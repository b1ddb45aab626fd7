# SPDX-License-Identifier: MIT
# base/: what everything stands on. Includes nothing above it, and is linked into the
# library and once more into the command, which cannot reach what the library hides.

noinst_LTLIBRARIES += libportprof-base.la
libportprof_base_la_CPPFLAGS = $(libportprof_core_la_CPPFLAGS)
libportprof_base_la_CFLAGS = $(libportprof_core_la_CFLAGS)
libportprof_base_la_SOURCES = \
	base/build_id.c \
	base/build_id.h \
	base/clean_text.c \
	base/clean_text.h \
	base/clock_ns.c \
	base/clock_ns.h \
	base/context_pc.c \
	base/context_pc.h \
	base/context_stack.c \
	base/context_stack.h \
	base/cpu_clock.c \
	base/cpu_clock.h \
	base/cpu_clock_read.c \
	base/elf_w.h \
	base/environment.c \
	base/environment.h \
	base/exec_guard.c \
	base/exec_guard.h \
	base/exec_stop.c \
	base/exec_stop.h \
	base/foreign_file.c \
	base/foreign_file.h \
	base/fork_guard.c \
	base/fork_guard.h \
	base/fork_return.h \
	base/heir.c \
	base/heir.h \
	base/json.c \
	base/json.h \
	base/library.c \
	base/library.h \
	base/lock_soon.h \
	base/machine.c \
	base/machine.h \
	base/memory_limit.c \
	base/memory_limit.h \
	base/never_less.h \
	base/number.c \
	base/number.h \
	base/pages.h \
	base/process_maps.c \
	base/process_maps.h \
	base/process_owner.c \
	base/process_owner.h \
	base/scale.h \
	base/shared_memory.c \
	base/shared_memory.h \
	base/signal_number.c \
	base/signal_number.h \
	base/signal_share.c \
	base/signal_share.h \
	base/square_root.h \
	base/system_function.h \
	base/text_list.c \
	base/text_list.h \
	base/text_width.c \
	base/text_width.h \
	base/thread.c \
	base/thread.h \
	base/thread_list.c \
	base/thread_list.h \
	base/cleanup.h \
	base/vector.h
