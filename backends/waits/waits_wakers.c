/* SPDX-License-Identifier: MIT */
/*
 * Who woke a thread, where another backend records it (the tracepoint
 * sched:sched_waking, of the thread that wakes). The first waking after the look that
 * met a wait is the end of that wait, of which nothing is told before. A wait whose end
 * nobody recorded has no waker; none is guessed.
 */
#include "backends/waits/waits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What may be read between two looks of a pass. */
#define READ_EVERY_NS UINT64_C(1000000)

/* Rings of several CPUs are read one after the other. */
void ppi_waits_take_waking(struct waits_watch *watch,
                           const portprof_record *record, int64_t tid,
                           bool is_interrupt)
{
	struct waits_thread *thread = ppi_waits_thread(watch, tid);

	if (!thread || !thread->was_blocked ||
	    record->time_ns <= thread->end.met_ns ||
	    (thread->end.woken.time_ns &&
	     thread->end.woken.time_ns <= record->time_ns))
		return;
	thread->end.woken = (struct waits_waking){
		.time_ns = record->time_ns, .pid = record->pid,
		.tid = record->tid,
		/* the idle task wakes nobody but by interrupts */
		.is_interrupt = is_interrupt || record->tid == 0,
	};
}

/* It was woken before it was found to have run, but perhaps after the rings were
 * read. */
void ppi_waits_await_waking(struct waits_watch *watch,
                            const struct waits_thread *thread)
{
	struct waits_wakers *wakers = &watch->wakers;

	if (!wakers->read || !thread->was_blocked || thread->end.woken.time_ns ||
	    watch->now_ns < wakers->read_ns + READ_EVERY_NS)
		return;
	wakers->read_ns = watch->now_ns;
	wakers->read(watch);
}

/* As holders are named; a thread that has ended has no name any more. */
void ppi_waits_name_waker(struct waits_watch *watch, struct waits_thread *thread)
{
	const struct waits_waking *woken = &thread->end.woken;
	struct waits_place *place = &thread->at;
	char path[96], name[32] = "";

	if (!thread->was_blocked || !woken->time_ns)
		return;
	snprintf(path, sizeof(path), "/proc/%" PRId64 "/task/%" PRId64 "/comm",
	         woken->pid, woken->tid);
	if (woken->is_interrupt)
		snprintf(place->waker, sizeof(place->waker), "(interrupt)");
	else if (watch->kernel->read(watch->kernel->self, path, name,
	                             sizeof(name)) > 0)
		snprintf(place->waker, sizeof(place->waker),
		         "thread %.*s (%" PRId64 ")", (int)strcspn(name, "\n"),
		         name, woken->tid);
	else
		snprintf(place->waker, sizeof(place->waker),
		         "thread (%" PRId64 ")", woken->tid);
	thread->end.woken.time_ns = 0;
}
