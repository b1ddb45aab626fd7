/* SPDX-License-Identifier: MIT */
/* Why perf refuses: the kernel's errno as a status and words. */
#ifndef PERF_ERRORS_H
#define PERF_ERRORS_H

#include "backends/perf/perf_state.h"

/* Why an event could not be opened, in words; os_error is positive. */
portprof_status ppi_perf_refuse_open(const struct perf_kernel *kernel,
                                     const struct ppi_event *event,
                                     int os_error, struct ppi_diag *why);
/* The same for a thread, which may be somebody else's. */
portprof_status ppi_perf_refuse_source(const struct ppi_backend_session *bs,
                                       const struct ppi_event *event,
                                       int64_t tid,
                                       int os_error, struct ppi_diag *why);
/* Too few descriptors for what is needed. */
portprof_status ppi_perf_refuse_fds(uint64_t needed, uint64_t available,
                                    uint64_t limit, const char *for_what,
                                    struct ppi_diag *why);
portprof_status ppi_perf_refuse_map(const struct perf_kernel *kernel,
                                    size_t bytes, int os_error,
                                    struct ppi_diag *why);
/* Why a process's threads could not be listed; os_error is positive. */
portprof_status ppi_perf_refuse_threads(const struct ppi_backend_session *bs,
                                        int os_error, struct ppi_diag *why);

#endif
