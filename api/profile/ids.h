/* SPDX-License-Identifier: MIT */
/* Ids of a file, which may be any numbers but 0, to numbers from 0 on. */
#ifndef PPI_FILE_IDS_H
#define PPI_FILE_IDS_H

#include "api/profile/pool.h"

/* All zero is empty. Ids that count up from 1 need no look-up. */
struct ppi_ids {
	uint64_t straight;    /* ids 1.. up to this one came in order */
	struct ppi_pool rest; /* the others, from the first that did not */
};

/* Enter the next id. False for 0, for one that was there, without memory. */
static inline bool ppi_ids_add(struct ppi_ids *ids, uint64_t id)
{
	size_t count = ppi_pool_count(&ids->rest);

	if (id == 0 || id <= ids->straight)
		return false;
	if (count == 0 && id == ids->straight + 1 && id < PPI_NONE) {
		ids->straight++;
		return true;
	}
	return ppi_pool_enter(&ids->rest, &id, sizeof(id)) == count;
}

/* The number of an id, or PPI_NONE. */
static inline uint32_t ppi_ids_find(const struct ppi_ids *ids, uint64_t id)
{
	uint32_t number;

	if (id - 1 < ids->straight)
		return (uint32_t)(id - 1);
	number = ppi_pool_find(&ids->rest, &id, sizeof(id));
	return number == PPI_NONE ? PPI_NONE
	                          : (uint32_t)ids->straight + number;
}

static inline void ppi_ids_free(struct ppi_ids *ids)
{
	ppi_pool_free(&ids->rest);
}

#endif
