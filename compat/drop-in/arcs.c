/* SPDX-License-Identifier: MIT */
/*
 * Who called whom how often: a table of arcs that threads fill without a lock.
 *
 * A slot is taken by whoever first puts a `from` into it, and its `self` is
 * there a moment later; who looks in between waits for that moment, which is
 * one store long.
 */
#include "compat/drop-in/arcs.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* As many as a call in every 16 bytes of text would make, within bounds. */
enum { TEXT_OF_AN_ARC = 16, LEAST_SLOTS = 1 << 12, MOST_SLOTS = 1 << 20 };

struct slot {
	atomic_uintptr_t from, self;
	atomic_size_t count; /* a file holds 32 bits of it */
};

static struct {
	struct slot *slots;
	size_t mask;
	atomic_bool is_on;
	atomic_size_t lost;
} table;

#if defined(__x86_64__) && defined(__GNUC__)
#define ONLY_GENERAL __attribute__((target("general-regs-only")))
#else
#define ONLY_GENERAL
#endif

bool ppi_arcs_begin(uint64_t text_bytes)
{
	size_t slots = LEAST_SLOTS;

	ppi_arcs_set(false);
	while (slots < text_bytes / TEXT_OF_AN_ARC && slots < MOST_SLOTS)
		slots *= 2;
	/* never freed while a thread may be counting: made once, cleared
	 * from then on */
	if (!table.slots) {
		table.slots = calloc(slots, sizeof(*table.slots));
		table.mask = slots - 1;
	} else {
		memset(table.slots, 0,
		       (table.mask + 1) * sizeof(*table.slots));
	}
	atomic_store(&table.lost, 0);
	return table.slots != NULL;
}

void ppi_arcs_set(bool on)
{
	atomic_store(&table.is_on, on && table.slots);
}

ONLY_GENERAL static inline size_t place_of(uintptr_t from, uintptr_t self)
{
	uint64_t mixed = (uint64_t)from * UINT64_C(0x9e3779b97f4a7c15) ^
	                 (uint64_t)self * UINT64_C(0xc2b2ae3d27d4eb4f);

	return (size_t)(mixed >> 24);
}

/* Whether the slot is, or becomes, this arc's. */
ONLY_GENERAL static inline bool is_slot_of(struct slot *slot, uintptr_t from,
                                           uintptr_t self)
{
	uintptr_t there = atomic_load_explicit(&slot->from,
	                                       memory_order_acquire);

	if (there == 0 &&
	    atomic_compare_exchange_strong(&slot->from, &there, from)) {
		atomic_store_explicit(&slot->self, self, memory_order_release);
		return true;
	}
	if (there != from)
		return false;
	while ((there = atomic_load_explicit(&slot->self,
	                                     memory_order_acquire)) == 0)
		;
	return there == self;
}

ONLY_GENERAL void ppi_arcs_count(uintptr_t from, uintptr_t self)
{
	size_t place;

	if (!atomic_load_explicit(&table.is_on, memory_order_acquire))
		return;
	place = place_of(from, self);
	for (size_t i = 0; i <= table.mask && i < 64; i++) {
		struct slot *slot = &table.slots[(place + i) & table.mask];

		if (!is_slot_of(slot, from, self))
			continue;
		atomic_fetch_add_explicit(&slot->count, 1,
		                          memory_order_relaxed);
		return;
	}
	atomic_fetch_add_explicit(&table.lost, 1, memory_order_relaxed);
}

size_t ppi_arcs_take(struct ppi_gmon_arc **arcs, uint64_t *lost)
{
	size_t count = 0, used = 0;

	*arcs = NULL;
	*lost = atomic_load(&table.lost);
	for (size_t i = 0; table.slots && i <= table.mask; i++)
		count += atomic_load(&table.slots[i].count) > 0;
	if (count)
		*arcs = calloc(count, sizeof(**arcs));
	for (size_t i = 0; *arcs && i <= table.mask && used < count; i++) {
		struct slot *slot = &table.slots[i];

		if (atomic_load(&slot->count))
			(*arcs)[used++] = (struct ppi_gmon_arc){
				atomic_load(&slot->from),
				atomic_load(&slot->self),
				atomic_load(&slot->count),
			};
	}
	return used;
}
