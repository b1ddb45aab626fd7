/* SPDX-License-Identifier: MIT */
/* The table of threads, so that a tick gets the CPU time since the last tick of
 * the same thread. */
#include "backends/itimer/itimer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(ATOMIC_LONG_LOCK_FREE == 2, "keys need lock-free atomics");

enum { SLOT_FREE = 0, SLOT_LEFT = -1, SLOTS_MIN = 4096, SLOTS_A_THREAD = 4 };

bool ppi_itimer_table_init(struct itimer_table *table, size_t threads)
{
	size_t count = SLOTS_MIN;

	while (count < threads * SLOTS_A_THREAD)
		count *= 2;
	table->slots = calloc(count, sizeof(*table->slots));
	table->mask = count - 1;
	return table->slots != NULL;
}

void ppi_itimer_table_free(struct itimer_table *table)
{
	free(table->slots);
	table->slots = NULL;
}

/* Ids are given out one after the other: spread them. */
static size_t first_slot(const struct itimer_table *table, long tid)
{
	return ((size_t)tid * 2654435761u >> 4) & table->mask;
}

/* The thread's own slot; else *spare is where it may be put. A slot that its
 * thread has left does not end the search, as a free one does. */
static struct itimer_slot *find_slot(struct itimer_table *table, long tid,
                                     struct itimer_slot **spare)
{
	size_t at = first_slot(table, tid);

	*spare = NULL;
	for (size_t i = 0; i <= table->mask; i++) {
		struct itimer_slot *slot =
			&table->slots[(at + i) & table->mask];
		long key = atomic_load(&slot->tid);

		if (key == tid)
			return slot;
		if (!*spare && (key == SLOT_LEFT || key == SLOT_FREE))
			*spare = slot;
		if (key == SLOT_FREE)
			break;
	}
	return NULL;
}

/* Only one thread puts in a given id, so it cannot get two slots; but two
 * threads may want the same slot. */
struct itimer_slot *ppi_itimer_table_get(struct itimer_table *table, long tid,
                                         bool *is_new)
{
	for (;;) {
		struct itimer_slot *spare;
		struct itimer_slot *slot = find_slot(table, tid, &spare);
		long key;

		*is_new = !slot;
		if (slot || !spare)
			return slot;
		key = atomic_load(&spare->tid);
		if ((key == SLOT_FREE || key == SLOT_LEFT) &&
		    atomic_compare_exchange_strong(&spare->tid, &key, tid)) {
			spare->last_ns = 0;
			return spare;
		}
	}
}

static int read_tids(struct itimer_state *state)
{
	const struct itimer_kernel *kernel = state->kernel;
	size_t count;

	for (;;) {
		size_t room;
		int64_t *tids;

		if (kernel->threads(kernel->self, state->tids, state->tid_room,
		                    &count) != 0)
			return -1;
		if (count <= state->tid_room)
			break;
		room = count + count / 2 + 16;
		tids = realloc(state->tids, room * sizeof(*tids));
		if (!tids) {
			errno = ENOMEM;
			return -1;
		}
		state->tids = tids;
		state->tid_room = room;
	}
	state->tid_count = count;
	return 0;
}

/* A thread that ended since it was listed has no clock and needs no slot. */
static int put_thread(struct itimer_state *state, int64_t tid)
{
	const struct itimer_kernel *kernel = state->kernel;
	struct itimer_slot *slot;
	uint64_t now_ns;
	bool is_new;

	if (kernel->thread_cpu(kernel->self, tid, &now_ns) != 0)
		return errno == ESRCH ? 0 : -1;
	slot = ppi_itimer_table_get(&state->table, (long)tid, &is_new);
	if (slot)
		slot->last_ns = now_ns;
	return 0;
}

/* For more threads than when the session was opened the table grows, which
 * start may do: no handler looks into it now. */
static bool fit_table(struct itimer_state *state)
{
	struct itimer_table larger;

	if (state->tid_count * SLOTS_A_THREAD <= state->table.mask + 1)
		return true;
	if (!ppi_itimer_table_init(&larger, state->tid_count))
		return false;
	ppi_itimer_table_free(&state->table);
	state->table = larger;
	return true;
}

portprof_status ppi_itimer_threads_begin(struct itimer_state *state,
                                         struct ppi_diag *why)
{
	state->is_by_thread = read_tids(state) == 0;
	if (state->is_by_thread ? !fit_table(state) : errno == ENOMEM)
		return ppi_fail(why, PORTPROF_E_NOMEM, 0, "start",
		                "out of memory");
	memset(state->table.slots, 0,
	       (state->table.mask + 1) * sizeof(*state->table.slots));
	for (size_t i = 0; state->is_by_thread && i < state->tid_count; i++)
		state->is_by_thread = put_thread(state, state->tids[i]) == 0;
	if (!state->is_by_thread)
		ppi_note(state->bs, "the CPU time that each thread has used "
		         "cannot be read here (%s): a sample stands for the "
		         "CPU time of the whole process since the last one",
		         strerror(errno));
	return PORTPROF_OK;
}

/*
 * The process's clock takes what other running threads have used since their
 * last tick only when their own clocks are read (thread_group_cputime and
 * task_sched_runtime, linux/kernel/sched).
 */
void ppi_itimer_threads_freshen(struct itimer_state *state)
{
	const struct itimer_kernel *kernel = state->kernel;
	uint64_t unused;

	if (read_tids(state) != 0)
		return;
	for (size_t i = 0; i < state->tid_count; i++)
		kernel->thread_cpu(kernel->self, state->tids[i], &unused);
}

static int compare_tids(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/*
 * The slot is given back unless its thread has come since the list was read:
 * then it has a clock. (An id that another thread gets right between that
 * question and the exchange would cost that thread's samples a wrong start;
 * ids come round only after thousands of others.)
 */
static void sweep_slot(struct itimer_state *state, struct itimer_slot *slot)
{
	const struct itimer_kernel *kernel = state->kernel;
	long key = atomic_load(&slot->tid);
	int64_t tid = key;
	uint64_t unused;

	if (key == SLOT_FREE || key == SLOT_LEFT ||
	    bsearch(&tid, state->tids, state->tid_count, sizeof(tid),
	            compare_tids))
		return;
	if (kernel->thread_cpu(kernel->self, tid, &unused) != 0 &&
	    errno == ESRCH)
		atomic_compare_exchange_strong(&slot->tid, &key, SLOT_LEFT);
}

void ppi_itimer_threads_sweep(struct itimer_state *state)
{
	if (!state->is_by_thread || read_tids(state) != 0)
		return;
	qsort(state->tids, state->tid_count, sizeof(*state->tids),
	      compare_tids);
	for (size_t i = 0; i <= state->table.mask; i++)
		sweep_slot(state, &state->table.slots[i]);
}
