/* SPDX-License-Identifier: MIT */
/* The CPUs of a session: which, of which type, how long idle. */
#ifndef PERF_CPUS_H
#define PERF_CPUS_H

#include "backends/perf/session/perf_session.h"

/* The CPUs of the target: all that are online, or those asked for. */
portprof_status ppi_perf_find_cpus(struct ppi_backend_session *bs,
                                   struct ppi_diag *why);

/* ---- machines with several types of core ---- */

/* The types of core, if there are several. */
void ppi_perf_find_cores(struct ppi_backend_session *bs);
/* Whether it is opened for each of them. */
bool ppi_perf_is_by_core(const struct ppi_backend_session *bs, size_t event);
/* Whether it is opened for that one, on that CPU; -1: on any. What is by no
 * core is opened for the one past the last: in a group with what is, the kernel
 * would count it on that type's CPUs alone. */
bool ppi_perf_is_on_core(const struct ppi_backend_session *bs, size_t event,
                         size_t core, int cpu);
/* Whether an event was refused because this type of core has none like it;
 * another may. */
bool ppi_perf_is_missing(const struct ppi_backend_session *bs, size_t event,
                         portprof_status status, const struct ppi_diag *why);
/* All are open: find which are covered, refuse what is on none. */
portprof_status ppi_perf_check_cores(struct ppi_backend_session *bs,
                                     struct ppi_diag *why);
/* Whether a thread's samples of it come from several kernel events, each of
 * which runs for a part of the time. */
static inline bool perf_is_split(const struct ppi_backend_session *bs,
                                 size_t event)
{
	return perf_state_of(bs)->layout == PERF_THREAD_RINGS &&
	       ppi_perf_is_by_core(bs, event);
}

/* ---- idle time ---- */

/* Whether what this event counted has idle time in it. */
bool ppi_perf_has_idle(const struct ppi_backend_session *bs, size_t event);
/* Whether process numbers here are not the system's own: 0 is the idle task's and
 * that of all that runs outside. */
bool ppi_perf_is_contained(const struct perf_kernel *kernel);
/* Just before events are switched on, and after they are off. */
void ppi_perf_idle_start(struct ppi_backend_session *bs);
void ppi_perf_idle_stop(struct ppi_backend_session *bs);
/* Of one CPU of the session while it ran, -1: of all. False where /proc/stat
 * does not tell. */
bool ppi_perf_idle_so_far(const struct ppi_backend_session *bs, int cpu,
                          struct perf_idle_times *out);

#endif
