/* SPDX-License-Identifier: MIT */
/* The threads that were added to a group, one by one, and their sum. */
#ifndef PPI_GROUP_THREADS_H
#define PPI_GROUP_THREADS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <portprof/group.h>

#include "api/core/open.h"

/* The events of such a group: readers keep one thread's values on the stack. */
enum { PPI_GROUP_THREAD_EVENTS = 64 };

/* A thread that is counted: a group of its own. */
struct ppi_group_thread {
	int64_t tid;
	struct ppi_opened opened;
};

/* What readers see; never changed once they can. */
struct ppi_group_view {
	struct ppi_group_view *next;      /* of those that are old */
	struct ppi_group_thread *removed; /* with this one's successor */
	size_t count;
	portprof_count gone[PPI_GROUP_THREAD_EVENTS]; /* threads that were removed */
	struct ppi_group_thread *threads[];
};

/*
 * Readers are any threads, and signal handlers: they enter and leave, and wait
 * for nobody. One thread at a time adds and removes: it puts another view in
 * place, and frees old ones when nobody is inside.
 */
struct ppi_group_threads {
	_Atomic(struct ppi_group_view *) view; /* NULL: never any but the first */
	atomic_uint readers;
	struct ppi_group_view *old;
};

static inline const struct ppi_group_view *
ppi_group_threads_enter(struct ppi_group_threads *threads)
{
	atomic_fetch_add(&threads->readers, 1);
	return atomic_load(&threads->view);
}

static inline void ppi_group_threads_leave(struct ppi_group_threads *threads)
{
	atomic_fetch_sub(&threads->readers, 1);
}

/* Open what `first` counts for that thread, too, and start it if they run; it is
 * none of those that are there. Readers see it then. */
portprof_status ppi_group_threads_add(struct ppi_group_threads *threads,
                                      const struct ppi_opened *first,
                                      int64_t tid, bool is_running,
                                      struct ppi_diag *why);

/* Stop and close it; what it counted stays in the sum. */
portprof_status ppi_group_threads_remove(struct ppi_group_threads *threads,
                                         struct ppi_group_thread *removed,
                                         struct ppi_diag *why);

/* NULL: it is not among those. For who adds and removes. */
struct ppi_group_thread *
ppi_group_threads_find(const struct ppi_group_threads *threads, int64_t tid);

/* Close all. Nobody reads any more. */
void ppi_group_threads_close(struct ppi_group_threads *threads);

/* Both together. Of several threads each value was scaled by itself. */
void ppi_group_sum(portprof_count *sum, const portprof_count *more);

#endif
