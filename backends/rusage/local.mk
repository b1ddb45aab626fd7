# SPDX-License-Identifier: MIT
# backends/rusage/: counting by getrusage(2) and clocks of CPU time.

libportprof_core_la_SOURCES += \
	backends/rusage/rusage.c \
	backends/rusage/rusage_command.c \
	backends/rusage/rusage_command.h \
	backends/rusage/rusage_events.c \
	backends/rusage/rusage_events.h \
	backends/rusage/rusage_kernel.h
if BACKEND_RUSAGE
libportprof_core_la_SOURCES += backends/rusage/rusage_kernel_real.c
endif
