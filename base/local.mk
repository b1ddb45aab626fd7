# SPDX-License-Identifier: MIT
# base/: what everything stands on. Includes nothing above it, and is linked into the
# library and once more into the command, which cannot reach what the library hides.
#
#   clock_ns        clocks; CPU time by each system's rules (cpu_clock_read: its calls)
#   thread          threads: ids, names, CPU clocks
#   label_store     whose work threads do: memory that handlers and recorders read
#   label_memory    the memory itself, and changes of sets with their times
#   label_clock     when they change; cycles: the CPU's counter
#   label_look      reads it, of this or another process
#   label_post      hands it to the recorder
#   processes       what processes have mapped, their memory, whose they are
#   otel_context    what service a process is, as OpenTelemetry says it
#   otel_publish    our labels, as its readers find them
#   otel_thread     what tracing libraries say that threads work for, in handlers;
#   otel_reach      of blocked threads of any process; otel_record: as a set of labels
#   signals         signals by name; those shared with the program
#   signal_context  what a signal handler sees: registers, the stack
#   fork_guard      forked children; timers and exec
#   memory          limits, pages, memory that processes share
#   library         libraries loaded when first needed
#   elf             build-ids
#   kernel_symbols  symbols of the running kernel
#   foreign_file    files that others wrote
#   text, json      text for a terminal, numbers in text; JSON
#   protobuf        messages of protocol buffers, as bytes
#   environment     variables of a program that may have rights of its own
#   host            the machine, in words
#   vector, pool    an array that grows; memory that is freed at once, numbered bytes
#   arithmetic      of 64-bit numbers
#   cleanup         what runs however a block is left

noinst_LTLIBRARIES += libportprof-base.la
libportprof_base_la_CPPFLAGS = $(libportprof_core_la_CPPFLAGS)
libportprof_base_la_CFLAGS = $(libportprof_core_la_CFLAGS)
libportprof_base_la_SOURCES = \
	base/arithmetic.h \
	base/cleanup.h \
	base/clock_ns.c \
	base/clock_ns.h \
	base/cpu_clock_read.c \
	base/elf.c \
	base/elf.h \
	base/environment.c \
	base/environment.h \
	base/foreign_file.c \
	base/foreign_file.h \
	base/fork_guard.c \
	base/fork_guard.h \
	base/hash.h \
	base/host.c \
	base/host.h \
	base/json.c \
	base/json.h \
	base/kernel_symbols.c \
	base/kernel_symbols.h \
	base/cycles.h \
	base/label_clock.c \
	base/label_clock.h \
	base/label_look.c \
	base/label_look.h \
	base/label_memory.c \
	base/label_memory.h \
	base/label_post.c \
	base/label_post.h \
	base/label_store.c \
	base/label_store.h \
	base/library.c \
	base/library.h \
	base/memory.c \
	base/memory.h \
	base/otel_context.c \
	base/otel_context.h \
	base/otel_publish.c \
	base/otel_publish.h \
	base/otel_reach.c \
	base/otel_reach.h \
	base/otel_record.c \
	base/otel_record.h \
	base/otel_thread.c \
	base/otel_thread.h \
	base/pool.c \
	base/pool.h \
	base/processes.c \
	base/processes.h \
	base/protobuf.h \
	base/signal_context.c \
	base/signal_context.h \
	base/signals.c \
	base/signals.h \
	base/text.c \
	base/text.h \
	base/thread.c \
	base/thread.h \
	base/vector.h
