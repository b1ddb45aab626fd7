/* SPDX-License-Identifier: MIT */
/* Pairs of numbers, each pair numbered in the order of its first coming. A
 * table with open slots: a report asks it once for each frame of a sample. */
#include "config.h"

#include "tools/view/pairs.h"

#include <stdlib.h>
#include <string.h>

static uint64_t join(uint32_t left, uint32_t right)
{
	return (uint64_t)left << 32 | right;
}

/* The slot where the pair is, or where it would go. */
static size_t slot_of(const struct ppi_pairs *pairs, uint64_t pair)
{
	uint64_t hash = pair * 0x9e3779b97f4a7c15u;
	size_t mask = pairs->slot_count - 1, at;

	hash ^= hash >> 32;
	for (at = (size_t)hash & mask; pairs->slots[at]; at = (at + 1) & mask)
		if (pairs->pairs[pairs->slots[at] - 1] == pair)
			break;
	return at;
}

/* Twice the slots, of which at most half are used, and as many pairs. */
static bool grow(struct ppi_pairs *pairs)
{
	struct ppi_pairs grown = *pairs;
	uint64_t *list;

	grown.slot_count = pairs->slot_count ? 2 * pairs->slot_count : 64;
	grown.slots = calloc(grown.slot_count, sizeof(*grown.slots));
	if (!grown.slots)
		return false;
	list = realloc(pairs->pairs, grown.slot_count / 2 * sizeof(*list));
	if (!list) {
		free(grown.slots);
		return false;
	}
	pairs->pairs = grown.pairs = list;
	for (uint32_t i = 0; i < pairs->count; i++)
		grown.slots[slot_of(&grown, list[i])] = i + 1;
	free(pairs->slots);
	*pairs = grown;
	return true;
}

uint32_t ppi_pairs_enter(struct ppi_pairs *pairs, uint32_t left, uint32_t right)
{
	uint64_t pair = join(left, right);
	size_t at;

	if (pairs->count == pairs->slot_count / 2 &&
	    (pairs->count >= PPI_NO_PAIR / 2 || !grow(pairs)))
		return PPI_NO_PAIR;
	at = slot_of(pairs, pair);
	if (pairs->slots[at] == 0) {
		pairs->pairs[pairs->count] = pair;
		pairs->slots[at] = ++pairs->count;
	}
	return pairs->slots[at] - 1;
}

uint32_t ppi_pairs_find(const struct ppi_pairs *pairs, uint32_t left,
                        uint32_t right)
{
	size_t at;

	if (pairs->count == 0)
		return PPI_NO_PAIR;
	at = slot_of(pairs, join(left, right));
	return pairs->slots[at] ? pairs->slots[at] - 1 : PPI_NO_PAIR;
}

void ppi_pairs_free(struct ppi_pairs *pairs)
{
	free(pairs->pairs);
	free(pairs->slots);
	memset(pairs, 0, sizeof(*pairs));
}
