# SPDX-License-Identifier: MIT
# backends/perf/: needs <linux/perf_event.h>; calls Linux in
# perf_kernel_real.c alone. Sessions and their sampling are in this folder. Below
# them: probe/ finds out what can be measured here, events/ leads from a string to
# what the kernel is asked for, counts/ opens and reads counters, records/ reads
# what the kernel writes.

PERF_SOURCES = \
	backends/perf/perf.c \
	backends/perf/perf_account.c \
	backends/perf/perf_account.h \
	backends/perf/perf_attach.c \
	backends/perf/perf_cgroup.c \
	backends/perf/perf_descriptor.c \
	backends/perf/perf_drain.c \
	backends/perf/perf_errors.c \
	backends/perf/perf_errors.h \
	backends/perf/perf_family.c \
	backends/perf/perf_kernel.h \
	backends/perf/perf_open.c \
	backends/perf/perf_pending.c \
	backends/perf/perf_port.c \
	backends/perf/perf_proc.c \
	backends/perf/perf_proc.h \
	backends/perf/perf_rate.c \
	backends/perf/perf_rate.h \
	backends/perf/perf_rings.h \
	backends/perf/perf_sample.c \
	backends/perf/perf_sample.h \
	backends/perf/perf_samples.h \
	backends/perf/perf_state.h \
	backends/perf/perf_steer.c \
	backends/perf/perf_clocks.c \
	backends/perf/perf_tail.c \
	backends/perf/perf_target.h \
	backends/perf/perf_threads.c \
	backends/perf/perf_traced.c \
	backends/perf/counts/perf_cores.c \
	backends/perf/counts/perf_count.c \
	backends/perf/counts/perf_counts.h \
	backends/perf/counts/perf_read.c \
	backends/perf/counts/perf_user.c \
	backends/perf/counts/perf_user.h \
	backends/perf/counts/perf_user_cpu.h \
	backends/perf/events/perf_attr.c \
	backends/perf/events/perf_attr.h \
	backends/perf/events/perf_catalogue.c \
	backends/perf/events/perf_names.c \
	backends/perf/events/perf_names.h \
	backends/perf/events/perf_place.c \
	backends/perf/events/perf_place.h \
	backends/perf/events/perf_request.c \
	backends/perf/events/perf_request.h \
	backends/perf/events/perf_resolve.c \
	backends/perf/events/perf_resolve.h \
	backends/perf/events/perf_symbol.c \
	backends/perf/events/perf_symbol.h \
	backends/perf/events/perf_sysfs.c \
	backends/perf/events/perf_sysfs.h \
	backends/perf/events/perf_tables.c \
	backends/perf/events/perf_tables.h \
	backends/perf/events/perf_tracepoint.c \
	backends/perf/probe/perf_probe.c \
	backends/perf/probe/perf_probe.h \
	backends/perf/probe/perf_rights.c \
	backends/perf/probe/perf_rights.h \
	backends/perf/records/perf_decode.c \
	backends/perf/records/perf_decode.h \
	backends/perf/records/perf_fields.c \
	backends/perf/records/perf_fields.h \
	backends/perf/records/perf_weight.c \
	backends/perf/records/perf_weight.h
if HAVE_PERF_HEADERS
if BACKEND_OFF_PERF
libportprof_tested_la_SOURCES += $(PERF_SOURCES) \
	backends/perf/perf_kernel_real.c
else
libportprof_core_la_SOURCES += $(PERF_SOURCES)
endif
endif

if BACKEND_PERF
libportprof_core_la_SOURCES += \
	backends/perf/perf_kernel_real.c
endif
