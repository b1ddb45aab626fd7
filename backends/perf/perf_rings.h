/* SPDX-License-Identifier: MIT */
/* Sampling is set up and taken down: events are opened, on rings. */
#ifndef PERF_RINGS_H
#define PERF_RINGS_H

#include "backends/perf/perf_state.h"

/* ---- perf_open.c: everything for sampling ---- */

/* The CPUs of the target: all that are online, or those asked for. */
portprof_status ppi_perf_find_cpus(struct ppi_backend_session *bs,
                                   struct ppi_diag *why);
/* Take everything for sampling. */
portprof_status ppi_perf_open_sampling(struct ppi_backend_session *bs,
                                       struct ppi_diag *why);

/* ---- perf_attach.c: the events of a thread or a CPU ---- */

/* Open the session's events for one thread. E_NOTFOUND: it has ended. */
portprof_status ppi_perf_attach_thread(struct ppi_backend_session *bs,
                                       int64_t tid, struct ppi_diag *why);
/* Open the carrier of a whole CPU, whose side ring becomes its own. */
portprof_status ppi_perf_attach_cpu_carrier(struct ppi_backend_session *bs,
                                            size_t port, struct ppi_diag *why);
/* From now on they tell of mappings and threads. */
void ppi_perf_enable_carriers(struct ppi_backend_session *bs);
/* Add a source, keeping the order by id; NULL when out of memory. */
struct perf_source *ppi_perf_add_source(struct perf_state *state,
                                        const struct perf_source *source);
/* A thread ring that is empty and whose thread is gone. */
void ppi_perf_retire_port(struct ppi_backend_session *bs, size_t port);
/* End a thread's events; the next drain gives back its ring, when it is empty. */
void ppi_perf_end_thread(struct ppi_backend_session *bs, int64_t tid);
/* Close the sources opened for `tid`, as if they had never been. */
void ppi_perf_drop_direct(struct ppi_backend_session *bs, uint32_t tid);
/* Descriptors, mappings and memory, in the owner or in a forked child. */
void ppi_perf_release(struct ppi_backend_session *bs);
/* The whole system: the session's events on each CPU. */
portprof_status ppi_perf_attach_system(struct ppi_backend_session *bs,
                                       struct ppi_diag *why);

/* ---- perf_port.c: rings ---- */

/* How many side rings threads have of their own; beyond that a thread's
 * carrier writes into its ring of samples. */
size_t ppi_perf_side_rings_left(const struct perf_state *state);
/* A free place among the ports; SIZE_MAX when out of memory. */
size_t ppi_perf_new_port(struct perf_state *state);
/* A ring of the size that is set, for the port; a thread's for samples is made
 * smaller, if it must. */
portprof_status ppi_perf_map_ring(struct ppi_backend_session *bs, int fd,
                                  struct perf_port *port, struct ppi_diag *why);
/* Open a CPU's ring, for samples or at its side. */
portprof_status ppi_perf_attach_cpu(struct ppi_backend_session *bs,
                                    uint32_t cpu,
                                    bool is_side, struct ppi_diag *why);
/* Close all CPUs' rings again, before any thread is attached. */
void ppi_perf_close_cpus(struct ppi_backend_session *bs);
/* With stacks: rings of threads that memory can be locked for, and stacks that
 * fit them. Before any event is open. */
void ppi_perf_fit_thread_rings(struct ppi_backend_session *bs, size_t threads);
/* Halve the size of the rings to come; false when they are smallest. */
bool ppi_perf_shrink_rings(struct ppi_backend_session *bs);

/* ---- perf_descriptor.c: what a program may have closed ---- */

/* Whether its descriptor leads to its event still: 0, or -EBADF where it does not.
 * Another errno: the question had no answer, as a filter may forbid it (seccomp(2)),
 * and nobody knows. */
int ppi_perf_ask_ours(const struct ppi_backend_session *bs,
                      const struct perf_source *source);
/* An ioctl of its event; the errno of ppi_perf_ask_ours where that is not 0. */
int ppi_perf_control(const struct ppi_backend_session *bs,
                     const struct perf_source *source, unsigned long request,
                     void *arg);
void ppi_perf_close_source(const struct ppi_backend_session *bs,
                           const struct perf_source *source);
/* Counting, after an odd answer: whether it was none of its event's. Then nothing
 * of the session is read again. */
bool ppi_perf_look_closed(const struct ppi_backend_session *bs,
                          const struct perf_source *source);
/* ppi_count_failed with the reason, if it is that. */
portprof_status ppi_perf_count_failed(const struct ppi_backend_session *bs,
                                      portprof_status status);

/* ---- perf_traced.c: probes that are tracepoints of ours ---- */

/* Where events are inherited: make tracepoints of the plan's probes, or note what
 * of them is not counted. The kind of session is known, nothing is open yet. */
void ppi_perf_trace_probes(struct ppi_backend_session *bs);
/* Remove them, when nothing is open any more. */
void ppi_perf_untrace_probes(struct ppi_backend_session *bs);
/* A probe that cannot be inherited. Nor does it lead a group or is it in one, whose
 * copies it would be among (kernel/events/core.c, inherit_group). */
bool ppi_perf_is_lone_probe(const struct ppi_backend_session *bs, size_t event);
/* The kind of session as it is for one event. */
struct perf_session_kind ppi_perf_kind_of_event(
	const struct ppi_backend_session *bs, size_t event);
/* The tracepoint's attributes in place of the probe's. */
void ppi_perf_attr_of_probe(const struct perf_state *state, size_t event,
                            struct perf_event_attr *attr);

/* ---- perf_attach.c: small copies of stacks, then whole ones ---- */

/* After shapes and layout are known: whether copies of stacks begin small. */
void ppi_perf_choose_small_stacks(struct ppi_backend_session *bs,
                                  size_t threads);
/* The attributes of one of the two events that there are of each then. */
void ppi_perf_attr_of_size(const struct perf_state *state, bool is_large,
                           struct perf_event_attr *attr);
/* Chains are cut: from now on copy more. */
void ppi_perf_grow_stacks(struct ppi_backend_session *bs);

/* ---- perf_steer.c: events and threads while a session is open ---- */

extern const struct ppi_steering ppi_perf_steering;

#endif
