# SPDX-License-Identifier: MIT
# backends/perf/: needs <linux/perf_event.h>; calls Linux in
# kernel/perf_kernel_real.c alone. What each folder is for is in perf.c.

PERF_SOURCES = \
	backends/perf/perf.c \
	backends/perf/counts/perf_count.c \
	backends/perf/counts/perf_counts.h \
	backends/perf/counts/perf_read.c \
	backends/perf/counts/perf_user.c \
	backends/perf/counts/perf_user_cpu.h \
	backends/perf/events/perf_catalogue.c \
	backends/perf/events/perf_names.c \
	backends/perf/events/perf_names.h \
	backends/perf/events/perf_place.c \
	backends/perf/events/perf_place.h \
	backends/perf/events/perf_request.c \
	backends/perf/events/perf_request.h \
	backends/perf/events/perf_resolve.c \
	backends/perf/events/perf_symbol.c \
	backends/perf/events/perf_sysfs.c \
	backends/perf/events/perf_sysfs.h \
	backends/perf/events/perf_tables.c \
	backends/perf/events/perf_tables.h \
	backends/perf/events/perf_tracepoint.c \
	backends/perf/kernel/perf_attr.c \
	backends/perf/kernel/perf_attr.h \
	backends/perf/kernel/perf_build_id.c \
	backends/perf/kernel/perf_build_id.h \
	backends/perf/kernel/perf_elf.c \
	backends/perf/kernel/perf_elf.h \
	backends/perf/kernel/perf_kernel.h \
	backends/perf/kernel/perf_own.h \
	backends/perf/kernel/perf_proc.c \
	backends/perf/kernel/perf_proc.h \
	backends/perf/kernel/perf_rate.c \
	backends/perf/kernel/perf_rate.h \
	backends/perf/kernel/perf_refusal.c \
	backends/perf/kernel/perf_refusal.h \
	backends/perf/probe/perf_probe.c \
	backends/perf/probe/perf_probe.h \
	backends/perf/records/perf_fields.c \
	backends/perf/records/perf_fields.h \
	backends/perf/records/perf_records.c \
	backends/perf/records/perf_records.h \
	backends/perf/records/perf_weight.c \
	backends/perf/records/perf_weight.h \
	backends/perf/sampling/perf_account.c \
	backends/perf/sampling/perf_account.h \
	backends/perf/sampling/perf_attach.c \
	backends/perf/sampling/perf_clocks.c \
	backends/perf/sampling/perf_drain.c \
	backends/perf/sampling/perf_family.c \
	backends/perf/sampling/perf_family.h \
	backends/perf/sampling/perf_late.c \
	backends/perf/sampling/perf_late.h \
	backends/perf/sampling/perf_open.c \
	backends/perf/sampling/perf_pending.c \
	backends/perf/sampling/perf_rings.c \
	backends/perf/sampling/perf_rings.h \
	backends/perf/sampling/perf_sample.c \
	backends/perf/sampling/perf_samples.h \
	backends/perf/sampling/perf_sampling.h \
	backends/perf/sampling/perf_sides.h \
	backends/perf/sampling/perf_steer.c \
	backends/perf/sampling/perf_tail.c \
	backends/perf/sampling/perf_tails.h \
	backends/perf/session/perf_cgroup.c \
	backends/perf/session/perf_cpus.c \
	backends/perf/session/perf_cpus.h \
	backends/perf/session/perf_session.c \
	backends/perf/session/perf_session.h \
	backends/perf/session/perf_target.c \
	backends/perf/session/perf_target.h
if HAVE_PERF_HEADERS
if BACKEND_OFF_PERF
libportprof_tested_la_SOURCES += $(PERF_SOURCES) \
	backends/perf/kernel/perf_kernel_real.c
else
libportprof_core_la_SOURCES += $(PERF_SOURCES)
endif
endif

if BACKEND_PERF
libportprof_core_la_SOURCES += \
	backends/perf/kernel/perf_kernel_real.c
endif
