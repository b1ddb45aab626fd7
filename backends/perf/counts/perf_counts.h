/* SPDX-License-Identifier: MIT */
/* Counters: opened, and read by the kernel or without it. */
#ifndef PERF_COUNTS_H
#define PERF_COUNTS_H

#include "backends/perf/session/perf_session.h"

/* What counting has beside what all sessions have. */
struct perf_counting {
	bool is_one_group;     /* one leader, one source an event */
	_Atomic uint64_t *highest; /* scaled values never go back */
	/* One an event: NULL until both ways of reading were seen to agree, by
	 * the thread that may take the short one. */
	const volatile struct perf_event_mmap_page **user_pages;
	uintptr_t user_thread;
};

/* ---- perf_count.c ---- */

/* What a failure leaves is released by the caller. */
portprof_status ppi_perf_open_counting(struct ppi_backend_session *bs,
                                       struct ppi_diag *why);
/* Pages and memory, in the owner or in a forked child; nothing is closed yet. */
void ppi_perf_release_counting(struct ppi_backend_session *bs);

/* ---- perf_read.c ---- */

/* Of the events [first, first + count): reads the groups they are in. */
portprof_status ppi_perf_read_counts(struct ppi_backend_session *bs,
                                     size_t first,
                                     portprof_count *out, size_t count);
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
/* What is counted of an event on the `part`th type of core; END past the last. */
portprof_status ppi_perf_count_part(struct ppi_backend_session *bs,
                                    size_t event, size_t part, const char **pmu,
                                    const char **cpus, portprof_count *out);

/* ---- perf_user.c: without the kernel, from the page that it keeps ---- */

enum perf_user_verdict {
	PERF_USER_OK,
	PERF_USER_SHARED, /* counted for a part of the time */
	PERF_USER_NOT     /* ask the kernel */
};

/* The page's own event; what is told of a time is of now where they differ,
 * else of when the kernel looked last. */
struct perf_user_value {
	uint64_t raw, enabled_ns, running_ns;
};

enum perf_user_verdict
ppi_perf_user_read(const volatile struct perf_event_mmap_page *page,
                   struct perf_user_value *out);

/* Before the events are opened: which bit of config1 asks the kernel for
 * user-space reads of this event; 0 = none need be asked. */
uint64_t ppi_perf_user_request(const struct ppi_backend_session *bs,
                               const struct ppi_event *event);
/* Map the page of an event that was opened, where that can be of use. */
void ppi_perf_user_map(struct ppi_backend_session *bs,
                       struct perf_source *source);
void ppi_perf_user_unmap(struct ppi_backend_session *bs,
                         const struct perf_source *source);

extern const struct ppi_count_ways ppi_perf_count_ways;
extern const struct ppi_count_parts ppi_perf_count_parts;

#endif
