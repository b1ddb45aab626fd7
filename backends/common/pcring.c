/* SPDX-License-Identifier: MIT */
/* A bounded ring of ticks with many writers and one reader. */
#include "backends/common/pcring.h"

#include <stdlib.h>
#include <string.h>

/* A lock inside an atomic would be one inside a signal handler. */
_Static_assert(ATOMIC_LONG_LOCK_FREE == 2 && sizeof(size_t) <= sizeof(long),
               "positions need lock-free atomics");

static size_t bytes_of(size_t cells)
{
	return sizeof(struct ppi_pcring_memory) +
	       cells * sizeof(struct ppi_pcring_cell);
}

static size_t round_up(size_t cells)
{
	size_t count = 2;

	while (count < cells)
		count *= 2;
	return count;
}

size_t ppi_pcring_bytes(size_t cells)
{
	return bytes_of(round_up(cells));
}

bool ppi_pcring_init(struct ppi_pcring *ring, size_t cells)
{
	size_t count = round_up(cells);

	memset(ring, 0, sizeof(*ring));
	ring->memory = calloc(1, bytes_of(count));
	ring->mask = count - 1;
	return ring->memory != NULL;
}

void ppi_pcring_read_from(struct ppi_pcring *ring, void *memory, size_t bytes)
{
	size_t count = 2;

	while (bytes_of(2 * count) <= bytes)
		count *= 2;
	memset(ring, 0, sizeof(*ring));
	ring->memory = memory;
	ring->mask = count - 1;
}

void ppi_pcring_write_to(struct ppi_pcring *ring, void *memory, size_t bytes)
{
	ppi_pcring_read_from(ring, memory, bytes);
	ring->is_foreign = true;
}

void ppi_pcring_free(struct ppi_pcring *ring)
{
	if (!ring->is_foreign)
		free(ring->memory);
	memset(ring, 0, sizeof(*ring));
}

static struct ppi_pcring_cell *cell_at(const struct ppi_pcring *ring,
                                       size_t position)
{
	return &ring->memory->cells[position & ring->mask];
}

static size_t turn_of(const struct ppi_pcring *ring, size_t position)
{
	return atomic_load_explicit(&cell_at(ring, position)->turn,
	                            memory_order_acquire) +
	       (position & ring->mask);
}

static void set_turn(struct ppi_pcring *ring, size_t position, size_t turn)
{
	atomic_store_explicit(&cell_at(ring, position)->turn,
	                      turn - (position & ring->mask),
	                      memory_order_release);
}

/*
 * The free cell at the writers' head, which becomes the caller's: false when
 * the ring is full. A head read too early cannot look like "full": by then
 * the cell's turn is past it.
 */
static bool claim(struct ppi_pcring *ring, size_t *position)
{
	_Atomic size_t *at = &ring->memory->head;
	size_t head = atomic_load_explicit(at, memory_order_relaxed);

	for (;;) {
		size_t turn = turn_of(ring, head);

		if ((ptrdiff_t)(turn - head) < 0)
			return false;
		if (turn != head) {
			head = atomic_load_explicit(at, memory_order_relaxed);
		} else if (atomic_compare_exchange_weak_explicit(
				   at, &head, head + 1, memory_order_relaxed,
				   memory_order_relaxed)) {
			*position = head;
			return true;
		}
	}
}

bool ppi_pcring_put(struct ppi_pcring *ring, const struct ppi_tick *tick)
{
	size_t position;

	if (!claim(ring, &position)) {
		atomic_fetch_add_explicit(&ring->memory->dropped, 1,
		                          memory_order_relaxed);
		return false;
	}
	cell_at(ring, position)->tick = *tick;
	set_turn(ring, position, position + 1);
	return true;
}

static void pass_tail(struct ppi_pcring *ring)
{
	set_turn(ring, ring->tail, ring->tail + ring->mask + 1);
	ring->tail++;
}

/* A writer that has claimed its cell and not filled it yet holds up the
 * reader, never other writers. */
const struct ppi_tick *ppi_pcring_peek(const struct ppi_pcring *ring)
{
	return turn_of(ring, ring->tail) == ring->tail + 1
		? &cell_at(ring, ring->tail)->tick : NULL;
}

bool ppi_pcring_take(struct ppi_pcring *ring, struct ppi_tick *tick)
{
	const struct ppi_tick *oldest = ppi_pcring_peek(ring);

	if (!oldest)
		return false;
	*tick = *oldest;
	pass_tail(ring);
	return true;
}

bool ppi_pcring_skip(struct ppi_pcring *ring)
{
	if (ppi_pcring_head(ring) == ring->tail ||
	    turn_of(ring, ring->tail) == ring->tail + 1)
		return false;
	pass_tail(ring);
	return true;
}

size_t ppi_pcring_head(const struct ppi_pcring *ring)
{
	return atomic_load_explicit(&ring->memory->head, memory_order_acquire);
}

uint64_t ppi_pcring_dropped(struct ppi_pcring *ring)
{
	size_t now;

	if (ring->is_foreign)
		return 0;
	now = atomic_load_explicit(&ring->memory->dropped,
	                           memory_order_relaxed);
	ring->dropped_total += now - ring->dropped_seen;
	ring->dropped_seen = now;
	return ring->dropped_total;
}
