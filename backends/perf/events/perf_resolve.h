/* SPDX-License-Identifier: MIT */
/* Event names to the kernel's numbers. */
#ifndef PERF_RESOLVE_H
#define PERF_RESOLVE_H

#include "backends/perf/events/perf_request.h"

/*
 * What `request` means on this machine, opened by nobody yet. When it names
 * no privilege level, user and kernel are wished for: the caller takes away
 * what is not permitted. event->request says guest and host as the kernel is
 * to be told, event->canonical as the user did.
 *   E_NOTFOUND     no such event, unit mask or PMU
 *   E_UNSUPPORTED  known, but not of this machine, or not in this way
 *   E_INVALID      contradictory, out of range, a unit mask is missing
 * Any thread.
 */
portprof_status ppi_perf_resolve(const struct perf_request *request,
                                 enum ppi_mode mode, struct ppi_event *event,
                                 struct ppi_diag *why);

/* The backend's resolve(): reads the parts of the request first; where no precise
 * level is given but the highest is wanted, finds the highest that opens. */
struct perf_kernel;
portprof_status ppi_perf_resolve_event(const struct perf_kernel *kernel,
                                       const struct ppi_event_request *request,
                                       enum ppi_mode mode,
                                       struct ppi_event *event,
                                       struct ppi_diag *why);

#endif
