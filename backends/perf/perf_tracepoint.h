/* SPDX-License-Identifier: MIT */
/* Tracepoints of the kernel, as tracefs names them. */
#ifndef PERF_TRACEPOINT_H
#define PERF_TRACEPOINT_H

#include "backends/backend.h"
#include "backends/perf/perf_kernel.h"

/* Whether a name may be one: "GROUP:EVENT", both words of a C program. */
bool perf_tracepoint_is_name(const char *name);

/* As perf_sysfs_resolve, of such a name. */
portprof_status perf_tracepoint_resolve(
	const struct perf_kernel *kernel,
	const struct ppi_event_request *request, enum ppi_mode mode,
	struct ppi_event *event, bool *is_there, struct ppi_diag *why);

/* Where tracepoints are: a folder with a file "available_events" and a folder
 * "events"; NULL when it cannot be read, for the reason in *error. */
const char *perf_tracepoint_folder(const struct perf_kernel *kernel, int *error);

#endif
