/* SPDX-License-Identifier: MIT */
/* A bounded ring of ticks with many writers and one reader. */
#include "backends/shared/pcring.h"

#include <stdlib.h>
#include <string.h>

/* A lock inside an atomic would be one inside a signal handler. */
_Static_assert(ATOMIC_LONG_LOCK_FREE == 2 && sizeof(size_t) <= sizeof(long),
               "positions need lock-free atomics");

bool ppi_pcring_init(struct ppi_pcring *ring, size_t cells)
{
	size_t count = 2;

	while (count < cells)
		count *= 2;
	memset(ring, 0, sizeof(*ring));
	ring->cells = calloc(count, sizeof(*ring->cells));
	if (!ring->cells)
		return false;
	ring->mask = count - 1;
	for (size_t i = 0; i < count; i++)
		atomic_init(&ring->cells[i].turn, i);
	return true;
}

void ppi_pcring_free(struct ppi_pcring *ring)
{
	free(ring->cells);
	memset(ring, 0, sizeof(*ring));
}

/*
 * The free cell at the writers' head, which becomes the caller's; NULL when
 * the ring is full. A head read too early cannot look like "full": by then
 * the cell's turn is past it.
 */
static struct ppi_pcring_cell *claim(struct ppi_pcring *ring, size_t *position)
{
	size_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

	for (;;) {
		struct ppi_pcring_cell *cell = &ring->cells[head & ring->mask];
		size_t turn = atomic_load_explicit(&cell->turn,
		                                   memory_order_acquire);

		if ((ptrdiff_t)(turn - head) < 0)
			return NULL;
		if (turn != head) {
			head = atomic_load_explicit(&ring->head,
			                            memory_order_relaxed);
		} else if (atomic_compare_exchange_weak_explicit(
				   &ring->head, &head, head + 1,
				   memory_order_relaxed,
				   memory_order_relaxed)) {
			*position = head;
			return cell;
		}
	}
}

bool ppi_pcring_put(struct ppi_pcring *ring, const struct ppi_tick *tick)
{
	size_t position;
	struct ppi_pcring_cell *cell = claim(ring, &position);

	if (!cell) {
		atomic_fetch_add_explicit(&ring->dropped, 1,
		                          memory_order_relaxed);
		return false;
	}
	cell->tick = *tick;
	atomic_store_explicit(&cell->turn, position + 1, memory_order_release);
	return true;
}

/* A writer that has claimed its cell and not filled it yet holds up the
 * reader, never other writers. */
bool ppi_pcring_take(struct ppi_pcring *ring, struct ppi_tick *tick)
{
	struct ppi_pcring_cell *cell = &ring->cells[ring->tail & ring->mask];
	size_t turn = atomic_load_explicit(&cell->turn, memory_order_acquire);

	if (turn != ring->tail + 1)
		return false;
	*tick = cell->tick;
	atomic_store_explicit(&cell->turn, ring->tail + ring->mask + 1,
	                      memory_order_release);
	ring->tail++;
	return true;
}

uint64_t ppi_pcring_dropped(struct ppi_pcring *ring)
{
	size_t now = atomic_load_explicit(&ring->dropped,
	                                  memory_order_relaxed);

	ring->dropped_total += now - ring->dropped_seen;
	ring->dropped_seen = now;
	return ring->dropped_total;
}
