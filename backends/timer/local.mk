# SPDX-License-Identifier: MIT
# backends/timer/: one CPU timer a thread.

TIMER_SOURCES = \
	backends/timer/timer.c \
	backends/timer/timer.h \
	backends/timer/timer_handler.c \
	backends/timer/timer_kernel.h \
	backends/timer/timer_threads.c
if BACKEND_OFF_TIMER
libportprof_tested_la_SOURCES += $(TIMER_SOURCES)
else
libportprof_core_la_SOURCES += $(TIMER_SOURCES)
endif
if BACKEND_TIMER
libportprof_core_la_SOURCES += backends/timer/timer_kernel_real.c
endif
