/* SPDX-License-Identifier: MIT */
/* Whether perf_event_open works here, for this user. */
#ifndef PERF_PROBE_H
#define PERF_PROBE_H

#include "backends/backend.h"
#include "backends/perf/kernel/perf_kernel.h"

void ppi_perf_probe_ladder(const struct perf_kernel *kernel,
                           struct ppi_probe *out);

#endif
