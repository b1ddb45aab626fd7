# SPDX-License-Identifier: MIT
# backends/itimer/: ITIMER_PROF, the fallback.

libportprof_core_la_SOURCES += \
	backends/itimer/itimer.c \
	backends/itimer/itimer.h \
	backends/itimer/itimer_arm.c \
	backends/itimer/itimer_handler.c \
	backends/itimer/itimer_kernel.h \
	backends/itimer/itimer_threads.c
if BACKEND_ITIMER
libportprof_core_la_SOURCES += backends/itimer/itimer_kernel_real.c
endif
