# SPDX-License-Identifier: MIT
# backends/: one folder each. Logic is listed without a condition (perf: if
# HAVE_PERF_HEADERS); only X_kernel_real.c stands under if BACKEND_X. What is
# switched off is the tests' (libportprof-tested.la).

libportprof_core_la_SOURCES += \
	backends/backend.h \
	backends/registry.c \
	backends/null/null.c \
	backends/common/cpu_time.c \
	backends/common/cpu_time.h \
	backends/common/gate.h \
	backends/common/pcbins.c \
	backends/common/pcbins.h \
	backends/common/pcregion.c \
	backends/common/pcregion.h \
	backends/common/tick_ring.c \
	backends/common/tick_ring.h \
	backends/common/ticks.c \
	backends/common/ticks.h \
	backends/common/total.h

include backends/perf/local.mk
include backends/area/local.mk
include backends/timer/local.mk
include backends/itimer/local.mk
include backends/profil/local.mk
include backends/solaris/local.mk
include backends/rusage/local.mk
include backends/waits/local.mk

EXTRA_DIST += backends/README.md
