/* SPDX-License-Identifier: MIT */
/* Sampling is set up, changed while it runs, and taken down: events are opened, on
 * rings. */
#ifndef PERF_SAMPLING_H
#define PERF_SAMPLING_H

#include "backends/perf/session/perf_session.h"

/* Copies of stacks that begin small: perf_steer.c. */
struct perf_stacks {
	uint32_t small_bytes; /* copies begin with; 0 = they are all alike */
	bool is_grown;        /* those are too short */
};

/* ---- perf_open.c: everything for sampling ---- */

/* Take everything for sampling. What a failure leaves is released by the caller. */
portprof_status ppi_perf_open_sampling(struct ppi_backend_session *bs,
                                       struct ppi_diag *why);
/* Rings and memory, in the owner or in a forked child. */
void ppi_perf_release_sampling(struct ppi_backend_session *bs);

/* ---- perf_attach.c: the events and rings of a thread or a CPU ---- */

/* Open the session's events for one thread. E_NOTFOUND: it has ended. */
portprof_status ppi_perf_attach_thread(struct ppi_backend_session *bs,
                                       int64_t tid, struct ppi_diag *why);
/* Open the carrier of a whole CPU, whose side ring becomes its own. */
portprof_status ppi_perf_attach_cpu_carrier(struct ppi_backend_session *bs,
                                            size_t ring, struct ppi_diag *why);
/* An event of the CPU of a ring, which writes into that ring beside those of the plan;
 * 0 or a negative errno. And close again those of one kind. */
int ppi_perf_open_beside(struct ppi_backend_session *bs,
                         struct perf_source *source,
                         struct perf_event_attr *attr);
void ppi_perf_close_beside(struct ppi_backend_session *bs,
                           bool (*is_one)(const struct perf_source *source));
/* From now on they report mappings and threads. */
void ppi_perf_enable_carriers(struct ppi_backend_session *bs);
/* A thread ring that is empty and whose thread is gone. */
void ppi_perf_retire_ring(struct ppi_backend_session *bs, size_t ring);
/* End a thread's events; the next drain gives back its ring, when it is empty. */
void ppi_perf_end_thread(struct ppi_backend_session *bs, int64_t tid);
/* Close the sources opened for `tid`, as if they had never been. */
void ppi_perf_drop_direct(struct ppi_backend_session *bs, uint32_t tid);
/* The whole system: the session's events on each CPU. */
portprof_status ppi_perf_attach_system(struct ppi_backend_session *bs,
                                       struct ppi_diag *why);

/* ---- perf_attach.c: which threads ---- */

/* Every thread of the target there is now; the helper's left out. */
portprof_status ppi_perf_attach_all(struct ppi_backend_session *bs,
                                    struct ppi_diag *why);
/* Thread rings: one that was created while sampling. */
void ppi_perf_attach_late(struct ppi_backend_session *bs, int64_t tid,
                          struct ppi_diag *why);
/* Thread rings: take what appeared, mark what ended. */
void ppi_perf_scan_threads(struct ppi_backend_session *bs);

/* ---- perf_steer.c: changes while a session is open ---- */

/* What a sample and a switch add to the threads that are measured. */
extern const struct ppi_costs_ops ppi_perf_costs;

/* Every two seconds: does the period granted still hold? Else longer ones from now
 * on. */
void ppi_perf_rate_watch(struct ppi_backend_session *bs, uint64_t now_ns);

/* Whether its event is switched off, while others of the session are not. */
bool ppi_perf_is_off(const struct perf_state *state,
                     const struct perf_source *source);
/* After shapes and layout are known: whether copies of stacks begin small. */
void ppi_perf_choose_small_stacks(struct ppi_backend_session *bs,
                                  size_t threads);
/* The attributes of one of the two events that there are of each then. */
void ppi_perf_attr_of_size(const struct perf_state *state, bool is_large,
                           struct perf_event_attr *attr);
/* Chains are cut: from now on copy more. */
void ppi_perf_grow_stacks(struct ppi_backend_session *bs);

extern const struct ppi_steering ppi_perf_steering;

#endif
