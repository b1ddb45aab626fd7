/* SPDX-License-Identifier: MIT */
/*
 * Which threads there are. They are found by looking: existing ones at open
 * and start, new ones while draining; so no call of the program needs to be
 * wrapped, and threads of a raw clone(2) are met, too. Nothing here runs in
 * signal context.
 */
#include "backends/timer/timer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool add_chunk(struct timer_state *state)
{
	unsigned i = atomic_load(&state->chunk_count);
	size_t count = (size_t)TIMER_FIRST_CHUNK << i;
	struct timer_thread *chunk;

	if (i == TIMER_CHUNKS)
		return false;
	chunk = calloc(count, sizeof(*chunk));
	if (!chunk)
		return false;
	for (size_t j = 0; j < count; j++) {
		chunk[j].next_free = state->free;
		state->free = &chunk[j];
	}
	state->chunks[i] = chunk;
	atomic_store(&state->chunk_count, i + 1);
	return true;
}

static struct timer_thread *take_entry(struct timer_state *state, int64_t tid)
{
	struct timer_thread *thread;

	if (!state->free && !add_chunk(state))
		return NULL;
	thread = state->free;
	state->free = thread->next_free;
	atomic_store(&thread->is_armed, false);
	thread->tid = tid;
	thread->has_timer = thread->is_counted = thread->is_deaf = false;
	memset(&thread->head, 0, sizeof(thread->head));
	thread->base_ns = thread->last_ns = thread->seen_ns = 0;
	atomic_store(&thread->ticks, 0);
	thread->seen_ticks = 0;
	return thread;
}

/* Room in both arrays for `count` threads and the ones that come meanwhile. */
static bool make_room(struct timer_state *state, size_t count)
{
	size_t room = count + count / 2 + 16;
	struct timer_thread **threads;
	int64_t *tids;

	if (state->tid_room && count <= state->tid_room)
		return true;
	tids = realloc(state->tids, room * sizeof(*tids));
	if (!tids)
		return false;
	state->tids = tids;
	/* twice: the list that is, and the one being made from it */
	threads = calloc(2 * room, sizeof(struct timer_thread *));
	if (!threads)
		return false;
	if (state->thread_count)
		memcpy(threads, state->threads,
		       state->thread_count * sizeof(struct timer_thread *));
	free(state->threads);
	state->threads = threads;
	state->tid_room = room;
	return true;
}

static int compare_tids(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Everybody but the helper thread (SAMPLE-9). */
static void sort_tids(struct timer_state *state, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (state->tids[i] != state->bs->helper_tid)
			state->tids[kept++] = state->tids[i];
	qsort(state->tids, kept, sizeof(*state->tids), compare_tids);
	state->tid_count = kept;
}

static portprof_status read_one(struct timer_state *state)
{
	const struct timer_kernel *kernel = state->kernel;
	uint64_t unused;

	state->tids[0] = state->only_tid;
	state->tid_count = kernel->thread_cpu(kernel->self, state->only_tid,
	                                      &unused) == 0;
	return PORTPROF_OK;
}

static portprof_status refuse_list(struct ppi_diag *why)
{
	portprof_status status = errno == ENOMEM ? PORTPROF_E_NOMEM :
	                                           PORTPROF_E_SYSTEM;

	return ppi_fail(why, status, errno, "list threads",
	                "the threads of this process cannot be listed: %s%s",
	                strerror(errno),
	                errno == ENOENT ? "; mount /proc" : "");
}

static portprof_status read_tids(struct timer_state *state,
                                 struct ppi_diag *why)
{
	const struct timer_kernel *kernel = state->kernel;
	size_t count = state->tid_room;

	for (;;) {
		if (!make_room(state, count))
			return ppi_fail(why, PORTPROF_E_NOMEM, 0,
			                "list threads", "out of memory");
		if (state->only_tid)
			return read_one(state);
		if (kernel->threads(kernel->self, state->tids, state->tid_room,
		                    &count) != 0)
			return refuse_list(why);
		if (count <= state->tid_room) {
			sort_tids(state, count);
			return PORTPROF_OK;
		}
	}
}

static void forget(struct timer_state *state, struct timer_thread *thread)
{
	ppi_timer_thread_let_go(state, thread);
	thread->next_free = state->free;
	state->free = thread;
}

/* A new thread has got the id of one that ended between two scans: the timer
 * that belonged to that one has nothing left to run. */
static bool is_successor(const struct timer_state *state,
                         const struct timer_thread *thread)
{
	const struct timer_kernel *kernel = state->kernel;
	uint64_t left;

	return thread->has_timer && atomic_load(&state->is_ticking) &&
	       kernel->left(kernel->self, thread->timer, &left) == 0 &&
	       left == 0;
}

static struct timer_thread *adopt(struct timer_state *state, int64_t tid)
{
	struct timer_thread *thread = take_entry(state, tid);

	if (!thread) {
		state->refusal = ENOMEM;
		ppi_note(state->bs, "some threads are not sampled: out of "
		         "memory");
		return NULL;
	}
	if (ppi_timer_thread_take_up(state, thread))
		return thread;
	forget(state, thread);
	return NULL;
}

/* The same thread as before, its successor, or NULL. */
static struct timer_thread *review(struct timer_state *state,
                                   struct timer_thread *thread)
{
	int64_t tid = thread->tid;

	if (is_successor(state, thread)) {
		forget(state, thread);
		return adopt(state, tid);
	}
	if (thread->has_timer || ppi_timer_thread_take_up(state, thread))
		return thread;
	forget(state, thread);
	return NULL;
}

/* Walk both sorted lists and make the new one. Returns how many threads were
 * found that had not been there. */
static size_t merge(struct timer_state *state)
{
	struct timer_thread **old = state->threads;
	struct timer_thread **made = old + state->tid_room;
	size_t i = 0, j = 0, count = 0, fresh = 0;

	while (i < state->thread_count || j < state->tid_count) {
		struct timer_thread *thread = NULL;

		if (j == state->tid_count ||
		    (i < state->thread_count &&
		     old[i]->tid < state->tids[j])) {
			forget(state, old[i++]);
		} else if (i == state->thread_count ||
		           state->tids[j] < old[i]->tid) {
			thread = adopt(state, state->tids[j++]);
			fresh++;
		} else {
			thread = review(state, old[i++]);
			j++;
		}
		if (thread)
			made[count++] = thread;
	}
	memcpy(old, made, count * sizeof(struct timer_thread *));
	state->thread_count = count;
	return fresh;
}

portprof_status ppi_timer_threads_scan(struct timer_state *state, size_t *fresh,
                                       struct ppi_diag *why)
{
	portprof_status status = read_tids(state, why);

	*fresh = 0;
	if (status)
		return status;
	state->is_at_limit = false;
	*fresh = merge(state);
	return PORTPROF_OK;
}

void ppi_timer_threads_free(struct timer_state *state)
{
	unsigned chunks = atomic_load(&state->chunk_count);

	for (unsigned i = 0; i < chunks; i++)
		free(state->chunks[i]);
	free(state->threads);
	free(state->tids);
}
