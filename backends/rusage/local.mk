# SPDX-License-Identifier: MIT
# backends/rusage/: counting by getrusage(2) and clocks of CPU time.

RUSAGE_SOURCES = \
	backends/rusage/rusage.c \
	backends/rusage/rusage_events.c \
	backends/rusage/rusage_events.h \
	backends/rusage/rusage_kernel.h
if BACKEND_OFF_RUSAGE
libportprof_tested_la_SOURCES += $(RUSAGE_SOURCES)
else
libportprof_core_la_SOURCES += $(RUSAGE_SOURCES)
endif
if BACKEND_RUSAGE
libportprof_core_la_SOURCES += backends/rusage/rusage_kernel_real.c
endif
