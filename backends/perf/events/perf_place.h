/* SPDX-License-Identifier: MIT */
/* Events of a place in a program: breakpoints, and probes of its files. */
#ifndef PERF_PLACE_H
#define PERF_PLACE_H

#include "backends/perf/events/perf_request.h"
#include "backends/perf/perf_kernel.h"

/* Whether it is one by its name: mem:..., breakpoint:..., uprobe:... */
bool ppi_perf_place_is_name(const char *name);

/*
 * What such a name means: addresses and offsets by the symbol tables of files,
 * and of the process whose symbols request->core.pid says.
 *   E_INVALID      malformed
 *   E_NOTFOUND     no such symbol or file
 *   E_UNSUPPORTED  this kernel has no such probe; the symbol is of a process
 *                  that there is not yet
 */
portprof_status ppi_perf_place_resolve(const struct perf_kernel *kernel,
                                       const struct perf_request *request,
                                       enum ppi_mode mode,
                                       struct ppi_event *event,
                                       struct ppi_diag *why);

/* Why the kernel refuses such an event with that errno; 0 status where there is
 * nothing special to say. */
portprof_status ppi_perf_place_refuse(const struct perf_kernel *kernel,
                                      const struct ppi_event *event,
                                      int os_error, struct ppi_diag *why);

#endif
