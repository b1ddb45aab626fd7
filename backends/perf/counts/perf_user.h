/* SPDX-License-Identifier: MIT */
/* Reading a counter without the kernel, from the page that it keeps. */
#ifndef PERF_USER_H
#define PERF_USER_H

#include "backends/backend.h"
#include "backends/perf/perf_kernel.h"

struct perf_source;

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
