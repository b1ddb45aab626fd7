/* SPDX-License-Identifier: MIT */
/* Simulated threads in sets of labels: they write to the store (base/label_store.h)
 * what real ones would, by the simulated clock. */
#include "config.h"

#include "tests/sim/labels.h"

#include "base/label_store.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RING_LOG2 = 10, RING_BYTES = sizeof(struct ppi_label_change) << RING_LOG2 };

static uint64_t last[PPI_LABEL_THREADS];

/* The first member of a set (api/core/label.c). */
static uint32_t number_of(const portprof_label_set *set)
{
	uint32_t number = PPI_LABELS_NONE;

	if (set)
		memcpy(&number, (const void *)set, sizeof(number));
	return number;
}

static struct ppi_label_thread *slot_of(struct ppi_label_store *store,
                                        int64_t tid, bool may_add)
{
	uint32_t count = atomic_load(&store->thread_count);

	for (uint32_t i = 0; i < count; i++)
		if (atomic_load(&store->tids[i]) == tid)
			return &store->threads[i];
	if (!may_add || count == PPI_LABEL_THREADS)
		return NULL;
	atomic_store(&store->threads[count].began_ns, 1);
	atomic_store(&store->tids[count], (int32_t)tid);
	atomic_store(&store->thread_count, count + 1);
	return &store->threads[count];
}

static void put(struct ppi_label_thread *slot, uint64_t time_ns,
                uint32_t number)
{
	uint64_t position = atomic_fetch_add(&slot->head, 1);
	struct ppi_label_change change = { time_ns, position << 32 | number };
	off_t at = (off_t)(atomic_load(&slot->ring) +
	                   (position & ((1 << RING_LOG2) - 1)) *
	                           sizeof(change));

	if (pwrite(ppi_label_memory_fd(), &change, sizeof(change), at) !=
	    sizeof(change))
		abort();
}

/* The simulated clock began before the real one, by which the store was made. */
static void put_timed(struct ppi_label_store *store,
                      struct ppi_label_thread *slot, uint64_t time_ns,
                      uint32_t number)
{
	uint64_t *last_ns = &last[slot - store->threads];

	store->created_ns = 0;
	atomic_store(&store->timed_from, 1);
	if (!atomic_load(&slot->ring))
		atomic_store(&slot->ring,
		             atomic_fetch_add(&store->rings_used, RING_BYTES));
	atomic_store(&slot->ring_log2, RING_LOG2);
	/* a new case begins at the clock's beginning */
	if (atomic_load(&slot->timed_from) != 1 || time_ns < *last_ns) {
		atomic_store(&slot->first, atomic_load(&slot->head));
		put(slot, 1, PPI_LABELS_NONE);
	}
	*last_ns = time_ns;
	atomic_store(&slot->timed_from, 1);
	put(slot, time_ns, number);
}

void sim_label(int64_t tid, const portprof_label_set *set, uint64_t time_ns)
{
	struct ppi_label_store *store = ppi_label_store_own();
	struct ppi_label_thread *slot =
		store ? slot_of(store, tid, set != NULL) : NULL;

	if (!slot)
		return;
	atomic_store(&slot->current, number_of(set));
	if (atomic_load(&store->timed_from) && ppi_label_memory_fd() >= 0)
		put_timed(store, slot, time_ns, number_of(set));
}
