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
 * Whether the backend samples or counts at all is not asked here: its
 * capabilities say so.
 */
portprof_status ppi_cpu_time_resolve(const struct ppi_event_request *request,
                                     enum ppi_mode mode, const char *means,
                                     struct ppi_event *event,
                                     struct ppi_diag *why);

/* Whether an event is named so, however its name is written: perf::PAGE_FAULTS
 * is page-faults. */
bool ppi_event_name_is(const char *name, const char *known);

/* Refuse a name that is none of the backend's: E_UNSUPPORTED and `words`, which
 * follow the name, when it is a known event; else E_NOTFOUND with the nearest
 * names. */
portprof_status ppi_cpu_time_refuse(const struct ppi_event_request *request,
                                    const char *words, struct ppi_diag *why);

#endif
