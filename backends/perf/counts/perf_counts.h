/* SPDX-License-Identifier: MIT */
/* Counters: opened, read, and added up over types of core. */
#ifndef PERF_COUNTS_H
#define PERF_COUNTS_H

#include "backends/perf/perf_state.h"

/* ---- perf_count.c ---- */

portprof_status ppi_perf_open_counting(struct ppi_backend_session *bs,
                                       struct ppi_diag *why);

/* ---- perf_read.c ---- */

/* Of the events [first, first + count): reads the groups they are in. */
portprof_status ppi_perf_read_counts(struct ppi_backend_session *bs,
                                     size_t first,
                                     portprof_count *out, size_t count);
/* What one core type's part of an event counted; not scaled. */
portprof_status ppi_perf_read_core(struct ppi_backend_session *bs, size_t event,
                                   size_t core, portprof_count *out);
/*
 * The kernel's answer for the one group on one thread: number, times enabled and
 * running, values with their ids in the order of the events. False where it is not
 * so, or something is to be told: read in full. PERF_READ_ROOM words.
 */
bool ppi_perf_read_plainly(const struct ppi_backend_session *bs,
                           uint64_t *words);
static inline uint64_t perf_plain_value(const uint64_t *words, size_t event)
{
	return words[3 + 2 * event];
}
/* The same of [0, count), in short where there is one group on one thread. */
portprof_status ppi_perf_count_all(struct ppi_backend_session *bs,
                                   portprof_count *out, size_t count);
/* Raw value and times are there: what it is worth, and scaled. */
void ppi_perf_judge(struct ppi_backend_session *bs, size_t event,
                    portprof_count *count);

/* An event that counting goes on without. */
static inline bool perf_is_refused(const struct ppi_backend_session *bs,
                                   size_t event)
{
	return bs->refusals && bs->refusals[event].status != PORTPROF_OK;
}

/* ---- perf_cores.c: machines with several types of core ---- */

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
/* All are open: tell which are covered, refuse what is on none. */
portprof_status ppi_perf_check_cores(struct ppi_backend_session *bs,
                                     struct ppi_diag *why);
portprof_status ppi_perf_count_part(struct ppi_backend_session *bs,
                                    size_t event, size_t part, const char **pmu,
                                    const char **cpus, portprof_count *out);

/* Whether a thread's samples of it come from several kernel events, each of
 * which runs for a part of the time. */
static inline bool perf_is_split(const struct ppi_backend_session *bs,
                                 size_t event)
{
	return perf_state_of(bs)->layout == PERF_THREAD_RINGS &&
	       ppi_perf_is_by_core(bs, event);
}

#endif
