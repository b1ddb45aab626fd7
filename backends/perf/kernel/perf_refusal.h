/* SPDX-License-Identifier: MIT */
/* What this user may measure by perf events, what would allow more, and why the
 * kernel refuses. */
#ifndef PERF_REFUSAL_H
#define PERF_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/perf/kernel/perf_attr.h"

struct perf_rights {
	int64_t paranoid;      /* kernel.perf_event_paranoid */
	bool has_paranoid;
	bool can_perfmon;      /* CAP_PERFMON, or CAP_SYS_ADMIN */
	bool can_admin;        /* CAP_SYS_ADMIN */
	bool can_lock;         /* CAP_IPC_LOCK */
	bool is_in_user_namespace; /* capabilities do not count */
	bool has_filter;       /* a seccomp filter is installed */
	char container[16];    /* "docker"; "" none was found */
};

void ppi_perf_find_rights(const struct perf_kernel *kernel,
                          struct perf_rights *rights);

/* "kernel.perf_event_paranoid is 2; this needs 1 or less". Returns out. */
const char *ppi_perf_say_level(const struct perf_rights *rights,
                               int needed_level, char *out, size_t bytes);
/* What lets this user do what needs that level or less. Returns out. */
const char *ppi_perf_say_remedy(const struct perf_rights *rights,
                                int needed_level, char *out, size_t bytes);
/* Both: "LEVEL: REMEDY". Returns out. */
const char *ppi_perf_say_paranoid(const struct perf_kernel *kernel,
                                  int needed_level, char *out, size_t bytes);

/* Which security module refuses an event that counts nothing, and what to do;
 * constant strings. */
const char *ppi_perf_find_module(const struct perf_kernel *kernel,
                                 const char **remedy);

/* ---- refusals by the kernel's errno ---- */

/* Why an event could not be opened, in words; os_error is positive. */
portprof_status ppi_perf_refuse_open(const struct perf_kernel *kernel,
                                     const struct ppi_event *event,
                                     int os_error, struct ppi_diag *why);
/* Too few descriptors for what is needed. */
portprof_status ppi_perf_refuse_fds(uint64_t needed, uint64_t available,
                                    uint64_t limit, const char *for_what,
                                    struct ppi_diag *why);
portprof_status ppi_perf_refuse_map(const struct perf_kernel *kernel,
                                    size_t bytes, int os_error,
                                    struct ppi_diag *why);
#endif
