/* SPDX-License-Identifier: MIT */
/* May this process open such an event? Opens it and closes it again. */
#ifndef PERF_TRY_H
#define PERF_TRY_H

#include "backends/perf/perf_kernel.h"

/* Each: 0 or an errno. With a ring of that size, unless it is 0. */
int ppi_perf_try_attr(const struct perf_kernel *kernel,
                      struct perf_event_attr *attr, int64_t pid, int cpu,
                      size_t ring_bytes);
/* An event of this type and config, in user mode only or in all modes. */
int ppi_perf_try_type(const struct perf_kernel *kernel, uint32_t type,
                      uint64_t config, bool is_user_only, int64_t pid, int cpu);
/* An event that counts nothing, in user mode. */
int ppi_perf_try_dummy(const struct perf_kernel *kernel, int64_t pid, int cpu);

#endif
