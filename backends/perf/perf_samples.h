/* SPDX-License-Identifier: MIT */
/* From the rings to records: samples, and what else the kernel reports. */
#ifndef PERF_SAMPLES_H
#define PERF_SAMPLES_H

#include "backends/perf/perf_state.h"

/* ---- perf_drain.c: all rings, oldest record first ---- */

/* A record of ours with what is common to all kinds. */
portprof_record ppi_perf_new_record(const struct perf_state *state,
                                    const struct perf_port *port,
                                    const struct perf_seen *seen,
                                    enum portprof_record_kind kind);
/* Whether it is of somebody whose profile this is. */
bool ppi_perf_is_wanted(const struct ppi_backend_session *bs,
                        const struct perf_seen *seen);
bool ppi_perf_has_room(const struct ppi_room *room, size_t words);
/* Now, by the clock of the records; later than any where it is not known. */
uint64_t ppi_perf_record_clock(const struct ppi_backend_session *bs);
portprof_status ppi_perf_drain_rings(struct ppi_backend_session *bs,
                                     struct ppi_room *room);

/* ---- perf_sample.c: one sample ---- */

/* False when there is no room: offer it again. */
bool ppi_perf_take_sample(struct ppi_backend_session *bs,
                          const struct perf_port *port,
                          const struct perf_seen *seen, struct ppi_room *room);
const struct perf_source *ppi_perf_source_of(const struct perf_state *state,
                                             uint64_t id);

/* ---- perf_clocks.c: weights by the clocks of threads, where samples of
 * inherited clocks have no count; else nothing happens ---- */

/* Just before events are switched on, and after they are off. */
void ppi_perf_clocks_start(struct ppi_backend_session *bs);
void ppi_perf_clocks_stop(struct ppi_backend_session *bs);
/* After it is known how far rings are filled. */
void ppi_perf_clocks_look(struct ppi_backend_session *bs);
/* Some sources were closed: their samples in the rings are no one's. */
void ppi_perf_clocks_recount(struct ppi_backend_session *bs);
uint64_t ppi_perf_clocks_weigh(struct ppi_backend_session *bs, uint32_t event,
                               uint32_t tid);
/* The front record of a ring is about to be popped. */
void ppi_perf_clocks_pass(struct ppi_backend_session *bs,
                          const struct perf_port *port);

/* ---- perf_tail.c: estimates of what threads use after their last sample,
 * by samples of the CPUs ---- */

/* Whether tails of this event are estimated: of those of CPU time. */
bool ppi_perf_tail_is_of(const struct ppi_backend_session *bs, size_t event);
/* Where CPUs may be sampled, and it is of use. Threads are attached. */
void ppi_perf_tail_open(struct ppi_backend_session *bs);
void ppi_perf_tail_enable(struct ppi_backend_session *bs);
/* After a drain: how often CPUs are sampled from now on. */
void ppi_perf_tail_pace(struct ppi_backend_session *bs);
/* Of the clock on the CPU of a port, now. */
uint64_t ppi_perf_tail_period(const struct perf_state *state, uint32_t event,
                              size_t port);
/* The longest that a sample of a CPU, taken then, may stand for. */
uint64_t ppi_perf_tail_longest(const struct perf_state *state, uint32_t event,
                               uint64_t time_ns);
/* A CPU's sample with its payload; kept if it is of a known thread. */
void ppi_perf_tail_keep(struct ppi_backend_session *bs,
                        const portprof_record *record, const uint64_t *words,
                        size_t word_count);
/* A FORK record: the thread is known from now on. False when there is no
 * room. */
bool ppi_perf_tail_begin(struct ppi_backend_session *bs,
                         const struct perf_seen *fork, struct ppi_room *room);
/* An EXIT record: known for a while still, then flushed, told and forgotten by
 * settle. False when it cannot wait. */
bool ppi_perf_tail_end(struct ppi_backend_session *bs,
                       const portprof_record *record, uint64_t time_ns,
                       bool is_told);
/* What ended long before `now_ns`; UINT64_MAX: all. False when there is no
 * room. */
bool ppi_perf_tail_settle(struct ppi_backend_session *bs, uint64_t now_ns,
                          struct ppi_room *room);
void ppi_perf_tail_forget(struct perf_state *state);
/* Its own sample was weighed, and not taken: is it young still? */
void ppi_perf_tail_grow(struct ppi_backend_session *bs,
                        struct perf_thread *thread, uint32_t event);
/* The thread's own event has sampled it. */
void ppi_perf_tail_drop(struct perf_thread *thread, uint32_t event);
/* It has ended, or becomes another program: what was kept is its tail's. False
 * when there is no room. NULL is a thread without any. */
bool ppi_perf_tail_flush(struct ppi_backend_session *bs,
                         struct perf_thread *thread, struct ppi_room *room);
/* The same of all threads: nothing is sampled any more. */
bool ppi_perf_tail_flush_all(struct ppi_backend_session *bs,
                             struct ppi_room *room);
/* A thread ended: many without a sample, and no estimate, are worth a note. */
void ppi_perf_tail_miss(struct ppi_backend_session *bs,
                        const struct perf_thread *thread);

/* ---- perf_pending.c: records that the kernel does not send ---- */

/* Into the room; false when it is full. */
bool ppi_perf_pending_flush(struct perf_state *state, struct ppi_room *room);
void ppi_perf_pending_free(struct perf_state *state);
/* Names of threads, mappings of a foreign process, the kernel's text. */
void ppi_perf_pending_baseline(struct ppi_backend_session *bs);
/* Carriers lost records: what lives now, once more. */
void ppi_perf_pending_catch_up(struct ppi_backend_session *bs);
void ppi_perf_remember_name(struct perf_state *state, uint32_t tid,
                            const char *name);

#endif
