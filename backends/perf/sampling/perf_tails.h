/* SPDX-License-Identifier: MIT */
/* Estimates of what threads use after their last sample, by samples of the CPUs:
 * perf_tail.c. */
#ifndef PERF_TAILS_H
#define PERF_TAILS_H

#include "backends/perf/records/perf_records.h"
#include "backends/perf/records/perf_weight.h"
#include "backends/perf/session/perf_session.h"

struct perf_tails {
	bool is_wanted;      /* short processes are to be estimated, */
	bool is_on;          /* and CPUs are sampled for that, */
	bool is_quiet;       /* less often: nothing began or ended lately */
	uint64_t stirred_ns; /* when something did; */
	uint64_t paced_ns;   /* when that last changed */
	struct perf_ending *endings, *last_ending;
	unsigned missed_threads; /* that ended without any sample */
	uint64_t *words;     /* the payload of a CPU's sample */
};

/* Whether tails of this event are estimated: of those of CPU time. */
bool ppi_perf_tail_is_of(const struct ppi_backend_session *bs, size_t event);
/* Where CPUs may be sampled, and it is of use. Threads are attached. */
void ppi_perf_tail_open(struct ppi_backend_session *bs);
void ppi_perf_tail_enable(struct ppi_backend_session *bs);
/* After a drain: how often CPUs are sampled from now on. */
void ppi_perf_tail_pace(struct ppi_backend_session *bs);
/* Of the clock on the CPU of a ring, now. */
uint64_t ppi_perf_tail_period(const struct perf_state *state, uint32_t event,
                              size_t ring);
/* The longest that a sample of a CPU, taken then, may stand for. */
uint64_t ppi_perf_tail_longest(const struct perf_state *state, uint32_t event,
                               uint64_t time_ns);
/* Into *tail, which is made or made larger; false, with a note, where there is no
 * memory. */
bool ppi_perf_tail_copy(struct ppi_backend_session *bs, struct perf_tail **tail,
                        const portprof_record *record, const uint64_t *words,
                        size_t word_count);
/* As a sample of that weight; false when there is no room. */
bool ppi_perf_tail_add(struct ppi_backend_session *bs,
                       const struct perf_tail *tail, uint64_t weight,
                       struct ppi_room *room);
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

#endif
