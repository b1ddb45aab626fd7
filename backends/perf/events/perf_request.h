/* SPDX-License-Identifier: MIT */
/* Requests for perf events, with the modifiers that perf adds to the core's, and
 * what they mean here. */
#ifndef PERF_REQUEST_H
#define PERF_REQUEST_H

#include "backends/backend.h"
#include "backends/perf/kernel/perf_own.h"

struct perf_request {
	struct ppi_event_request core; /* its name has the unit masks too */
	struct perf_asked asked;
};

/* Take perf's modifiers out of a request, and what is left into its name: unit
 * masks and the PMU's own modifiers. E_INVALID names part and column. */
portprof_status ppi_perf_request_read(const struct ppi_event_request *request,
                                      struct perf_request *out,
                                      struct ppi_diag *why);

/* An event of this request, of which nothing is known yet. */
struct ppi_event ppi_perf_request_event(const struct perf_request *request);

/* Levels and worlds as they were asked for; user and kernel, without guests, where
 * nothing was. */
void ppi_perf_set_modes(struct ppi_event *event);

/* ppi_event_format with perf's modifiers. */
bool ppi_perf_request_format(const struct ppi_event_request *core,
                             const struct perf_asked *asked, const char *name,
                             char *out, size_t bytes);

/* Where in the user's text a part stands, from 1. */
size_t ppi_perf_column_of(const struct ppi_event_request *request,
                          const char *part);

/* ---- perf_resolve.c: to the kernel's numbers ---- */

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
