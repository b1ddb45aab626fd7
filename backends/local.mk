# SPDX-License-Identifier: MIT
# backends/: one folder each. Logic is listed without a condition (perf: if
# HAVE_PERF_HEADERS); only X_kernel_real.c stands under if BACKEND_X. What is
# switched off is the tests' (libportprof-tested.la).

libportprof_core_la_SOURCES += \
	backends/backend.h \
	backends/registry.c \
	backends/null/null.c \
	backends/shared/cpu_meter.c \
	backends/shared/cpu_meter.h \
	backends/shared/cpu_time.c \
	backends/shared/cpu_time.h \
	backends/shared/gate.h \
	backends/shared/own_ticks.c \
	backends/shared/own_ticks.h \
	backends/shared/pcbins.c \
	backends/shared/pcbins.h \
	backends/shared/pcgive.c \
	backends/shared/pcgive.h \
	backends/shared/pcregion.c \
	backends/shared/pcregion.h \
	backends/shared/pcring.c \
	backends/shared/pcring.h \
	backends/shared/stream.c \
	backends/shared/stream.h \
	backends/shared/tick_ring.c \
	backends/shared/tick_ring.h \
	backends/shared/ticks.c \
	backends/shared/ticks.h \
	backends/shared/tickweight.c \
	backends/shared/tickweight.h \
	backends/shared/total.h

include backends/perf/local.mk
include backends/share/local.mk
include backends/timer/local.mk
include backends/itimer/local.mk
include backends/profil/local.mk
include backends/solaris/local.mk
include backends/rusage/local.mk

EXTRA_DIST += backends/README.md
