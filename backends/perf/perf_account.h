/* SPDX-License-Identifier: MIT */
/* What a session counted, lost and left out. */
#ifndef PERF_ACCOUNT_H
#define PERF_ACCOUNT_H

#include "backends/perf/perf_state.h"

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
void ppi_perf_clock_start(struct ppi_backend_session *bs);
void ppi_perf_clock_stop(struct ppi_backend_session *bs);
void ppi_perf_account(struct ppi_backend_session *bs, size_t event,
                      struct ppi_account *out);
/* Add what a source counted and lost to a tally; to that which its event
 * keeps, because it is about to be closed. */
void ppi_perf_tally_source(struct ppi_backend_session *bs,
                           const struct perf_source *source,
                           struct perf_tally *tally);
void ppi_perf_tally_closing(struct ppi_backend_session *bs,
                            const struct perf_source *source);
/* Records of mappings and names that found no room: in a note, when there are
 * more than it said. */
void ppi_perf_say_side_losses(struct ppi_backend_session *bs);

#endif
