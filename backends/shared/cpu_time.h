/* SPDX-License-Identifier: MIT */
/* Resolving the event names that mean CPU time, for backends without a PMU. */
#ifndef PPI_CPU_TIME_H
#define PPI_CPU_TIME_H

#include "backends/backend.h"

/*
 * Accept "cpu-clock" and "task-clock" (with or without "perf::", upper or
 * lower case, '-' or '_'), in nanoseconds of CPU time, user and kernel mode
 * together. `means` goes into the description. Other names: E_UNSUPPORTED
 * when they are known events, E_NOTFOUND with the nearest names otherwise.
 * u or k alone is E_UNSUPPORTED: these backends cannot tell the modes apart.
 */
portprof_status ppi_cpu_time_resolve(const struct ppi_event_request *request,
                                     enum ppi_mode mode, const char *means,
                                     struct ppi_event *event,
                                     struct ppi_diag *why);

#endif
