/* SPDX-License-Identifier: MIT */
/* Events that the system itself names: PMUs in sysfs, tracepoints. */
#ifndef PERF_SYSFS_H
#define PERF_SYSFS_H

#include "backends/backend.h"
#include "backends/perf/perf_kernel.h"

#define PERF_SYSFS_PMUS "/sys/bus/event_source/devices"

/*
 * What "PMU::EVENT", "PMU::EVENT:TERM=VALUE" or "PMU::raw:TERM=VALUE" means
 * by the files of the PMU, or "GROUP:EVENT" by those of the tracepoints.
 *   E_NOTFOUND     no such PMU, tracepoint, event or term; *is_there tells
 *                  whether the PMU or group is
 *   E_INVALID      a value out of its range
 *   E_DENIED       tracepoints may not be looked up
 *   E_UNSUPPORTED  it counts for packages, not for threads
 */
portprof_status perf_sysfs_resolve(const struct perf_kernel *kernel,
                                   const struct ppi_event_request *request,
                                   enum ppi_mode mode, struct ppi_event *event,
                                   bool *is_there, struct ppi_diag *why);

/* As for a generic event of a PMU; perf_resolve.c takes away what this one
 * cannot tell apart. */
void perf_sysfs_set_modes(struct ppi_event *event);

/* The names in a folder, sorted, each ended by a zero and all by another; to
 * be freed. NULL: none. */
char *perf_sysfs_names(const struct perf_kernel *kernel, const char *folder);

/* A small file below PERF_SYSFS_PMUS, without its newline. */
bool perf_sysfs_text(const struct perf_kernel *kernel, const char *pmu,
                     const char *folder, const char *name, char *out,
                     size_t room);

/* Whether some PMU tells how precise its samples can be. Where none does the
 * kernel may take every level and ignore it (drivers/perf/arm_pmu.c). */
bool perf_sysfs_tells_precision(const struct perf_kernel *kernel);

#endif
