# SPDX-License-Identifier: MIT
# backends/itimer/: ITIMER_PROF, the fallback.

ITIMER_SOURCES = \
	backends/itimer/itimer.c \
	backends/itimer/itimer.h \
	backends/itimer/itimer_handler.c \
	backends/itimer/itimer_kernel.h \
	backends/itimer/itimer_threads.c
if BACKEND_OFF_ITIMER
libportprof_tested_la_SOURCES += $(ITIMER_SOURCES)
else
libportprof_core_la_SOURCES += $(ITIMER_SOURCES)
endif
if BACKEND_ITIMER
libportprof_core_la_SOURCES += backends/itimer/itimer_kernel_real.c
endif
