/* SPDX-License-Identifier: MIT */
/*
 * Threads by hand: each that is added is a group of its own with the events of
 * the first, and a reading is their sum. So backends know nothing of it.
 */
#include "api/core/group_threads.h"

#include "api/common/diag.h"

#include <stdlib.h>
#include <string.h>

/* Of a thread that did not run yet, or of none. */
static bool is_nothing(const portprof_count *count)
{
	return count->status == PORTPROF_COUNT_OK && count->enabled_ns == 0;
}

static uint64_t worse(uint64_t status, uint64_t other)
{
	return status > other ? status : other;
}

void ppi_group_sum(portprof_count *sum, const portprof_count *more)
{
	uint64_t status = worse(sum->status, more->status);

	if (is_nothing(more))
		return;
	if (is_nothing(sum)) {
		*sum = *more;
		return;
	}
	if (status >= PORTPROF_COUNT_ERROR) {
		*sum = (portprof_count){ .status = status };
		return;
	}
	/* A part that is an estimate, or was not seen, makes all an estimate. */
	sum->status = sum->status == more->status ? status
	                                          : PORTPROF_COUNT_SCALED;
	sum->raw += more->raw;
	sum->scaled += more->scaled;
	sum->enabled_ns += more->enabled_ns;
	sum->running_ns += more->running_ns;
}

static void close_thread(struct ppi_group_thread *thread)
{
	struct ppi_backend_session *bs = &thread->opened.bs;
	struct ppi_diag why;

	if (!ppi_is_forked(&thread->opened.guard))
		bs->ops->stop(bs, &why);
	ppi_opened_close(&thread->opened);
	free(thread);
}

/* With room for one thread more; NULL when out of memory. */
static struct ppi_group_view *copy_view(const struct ppi_group_view *view)
{
	size_t count = view ? view->count : 0;
	struct ppi_group_view *copy =
		calloc(1, sizeof(*copy) + (count + 1) * sizeof(*copy->threads));

	if (!copy || !view)
		return copy;
	memcpy(copy->gone, view->gone, sizeof(copy->gone));
	memcpy(copy->threads, view->threads, count * sizeof(*copy->threads));
	copy->count = count;
	return copy;
}

static void free_old(struct ppi_group_threads *threads)
{
	while (threads->old) {
		struct ppi_group_view *old = threads->old;

		threads->old = old->next;
		if (old->removed)
			close_thread(old->removed);
		free(old);
	}
}

/* Whoever enters from now on finds the new view, so that the old ones are free
 * once nobody is inside; if somebody is, they wait for the next change. */
static void publish(struct ppi_group_threads *threads,
                    struct ppi_group_view *view,
                    struct ppi_group_thread *removed)
{
	struct ppi_group_view *old = atomic_exchange(&threads->view, view);

	if (old) {
		old->removed = removed;
		old->next = threads->old;
		threads->old = old;
	}
	if (atomic_load(&threads->readers) == 0)
		free_old(threads);
}

struct ppi_group_thread *
ppi_group_threads_find(const struct ppi_group_threads *threads, int64_t tid)
{
	const struct ppi_group_view *view = atomic_load(&threads->view);

	for (size_t i = 0; view && i < view->count; i++)
		if (view->threads[i]->tid == tid)
			return view->threads[i];
	return NULL;
}

/* What one thread cannot count would make a sum of some. */
static portprof_status compare_refusals(const struct ppi_opened *first,
                                        const struct ppi_opened *more,
                                        struct ppi_diag *why)
{
	for (size_t i = 0; more->bs.refusals &&
	     i < more->box.plan.event_count; i++)
		if (more->bs.refusals[i].status &&
		    first->bs.refusals[i].status == PORTPROF_OK) {
			*why = more->bs.refusals[i];
			return why->status;
		}
	return PORTPROF_OK;
}

static portprof_status open_like(const struct ppi_opened *first, int64_t tid,
                                 struct ppi_opened *more, struct ppi_diag *why)
{
	portprof_config *config = ppi_config_copy(first->config);
	portprof_status status;

	if (!config)
		return ppi_fail(why, PORTPROF_E_NOMEM, 0, "add thread",
		                "out of memory");
	portprof_config_set_backend(config, first->bs.ops->name);
	config->target_is_caller = false;
	config->target_id = tid;
	status = ppi_opened_open(more, config, PPI_COUNT, why);
	portprof_config_free(config);
	if (status)
		return status;
	status = compare_refusals(first, more, why);
	if (status)
		ppi_opened_close(more);
	return status;
}

/* Closed again unless it counts as the first does. */
static portprof_status open_thread(const struct ppi_opened *first, int64_t tid,
                                   bool is_running,
                                   struct ppi_group_thread **opened,
                                   struct ppi_diag *why)
{
	struct ppi_group_thread *thread = calloc(1, sizeof(*thread));
	struct ppi_backend_session *bs;
	portprof_status status;

	if (!thread)
		return ppi_fail(why, PORTPROF_E_NOMEM, 0, "add thread",
		                "out of memory");
	thread->tid = tid;
	status = open_like(first, tid, &thread->opened, why);
	if (status) {
		free(thread);
		return status;
	}
	bs = &thread->opened.bs;
	if (is_running)
		status = bs->ops->start(bs, why);
	if (status)
		close_thread(thread);
	else
		*opened = thread;
	return status;
}

portprof_status ppi_group_threads_add(struct ppi_group_threads *threads,
                                      const struct ppi_opened *first,
                                      int64_t tid, bool is_running,
                                      struct ppi_diag *why)
{
	size_t events = first->box.plan.event_count;
	struct ppi_group_thread *thread = NULL;
	struct ppi_group_view *view;
	portprof_status status;

	if (events > PPI_GROUP_THREAD_EVENTS)
		return ppi_fail(why, PORTPROF_E_LIMIT, 0, "add thread",
		                "threads can be added to groups of up to %d "
		                "events, and this has %zu: open several",
		                PPI_GROUP_THREAD_EVENTS, events);
	status = open_thread(first, tid, is_running, &thread, why);
	if (status)
		return status;
	view = copy_view(atomic_load(&threads->view));
	if (!view) {
		close_thread(thread);
		return ppi_fail(why, PORTPROF_E_NOMEM, 0, "add thread",
		                "out of memory");
	}
	view->threads[view->count++] = thread;
	publish(threads, view, NULL);
	return PORTPROF_OK;
}

/* Stopped, it counts the same for readers of the old view and of the new. */
portprof_status ppi_group_threads_remove(struct ppi_group_threads *threads,
                                         struct ppi_group_thread *removed,
                                         struct ppi_diag *why)
{
	struct ppi_backend_session *bs = &removed->opened.bs;
	size_t events = removed->opened.box.plan.event_count, kept = 0;
	portprof_count counts[PPI_GROUP_THREAD_EVENTS];
	portprof_status status = bs->ops->stop(bs, why);
	struct ppi_group_view *view;

	if (status)
		return status;
	status = bs->ops->count(bs, counts, events);
	if (status)
		return ppi_fail(why, status, 0, "remove thread",
		                "backend %s: %s", bs->ops->name,
		                portprof_status_text(status));
	view = copy_view(atomic_load(&threads->view));
	if (!view)
		return ppi_fail(why, PORTPROF_E_NOMEM, 0, "remove thread",
		                "out of memory");
	for (size_t i = 0; i < view->count; i++)
		if (view->threads[i] != removed)
			view->threads[kept++] = view->threads[i];
	view->count = kept;
	for (size_t i = 0; i < events; i++)
		ppi_group_sum(&view->gone[i], &counts[i]);
	publish(threads, view, removed);
	return PORTPROF_OK;
}

void ppi_group_threads_close(struct ppi_group_threads *threads)
{
	struct ppi_group_view *view = atomic_load(&threads->view);

	free_old(threads);
	for (size_t i = 0; view && i < view->count; i++)
		close_thread(view->threads[i]);
	free(view);
}
