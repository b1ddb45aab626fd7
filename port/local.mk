# SPDX-License-Identifier: MIT
# port/: what C libraries lack or do differently. Includes nothing above it.

# What comes from others or goes to them, for the library and for the command, which cannot
# reach what the library hides.
FOREIGN_FILES = \
	port/build_id.c \
	port/build_id.h \
	port/clean_text.c \
	port/clean_text.h \
	port/foreign_file.c \
	port/foreign_file.h \
	port/json.c \
	port/json.h \
	port/library.c \
	port/library.h \
	port/lock_soon.h \
	port/process_owner.c \
	port/process_owner.h \
	port/text_width.c \
	port/text_width.h

libportprof_core_la_SOURCES += \
	$(FOREIGN_FILES) \
	port/environment.c \
	port/environment.h \
	port/clock_ns.c \
	port/clock_ns.h \
	port/context_pc.c \
	port/context_pc.h \
	port/context_stack.c \
	port/context_stack.h \
	port/cpu_clock.c \
	port/cpu_clock.h \
	port/cpu_clock_read.c \
	port/elf_w.h \
	port/exec_guard.c \
	port/exec_guard.h \
	port/fork_guard.c \
	port/fork_guard.h \
	port/fork_return.h \
	port/heir.c \
	port/heir.h \
	port/machine.c \
	port/machine.h \
	port/memory_limit.c \
	port/memory_limit.h \
	port/pages.h \
	port/never_less.h \
	port/scale.h \
	port/shared_memory.c \
	port/shared_memory.h \
	port/signal_number.c \
	port/signal_number.h \
	port/signal_share.c \
	port/signal_share.h \
	port/square_root.h \
	port/system_function.h \
	port/text_list.c \
	port/text_list.h \
	port/thread.c \
	port/thread.h \
	port/thread_list.c \
	port/thread_list.h \
	port/unwind.h
