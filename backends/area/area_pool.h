/* SPDX-License-Identifier: MIT */
/* The collector's side of shared memory: a pool of areas. */
#ifndef PPI_POOL_H
#define PPI_POOL_H

#include "backends/area/area.h"
#include "backends/common/tick_ring.h"
#include "backends/common/stream.h"

/* Births are told again when more than so many children take turns. */
enum { POOL_HEIRS = 64 };

/* One area as the collector has it. */
struct pool_area {
	struct share_area *shared;
	int id;
	struct ppi_tick_ring ring;
	struct ppi_stream stream;
	bool is_used;  /* a session has it */
	bool is_dead;  /* whoever had it can put nothing more there */
	bool is_told;  /* the birth of its process */
	uint32_t pid, parent_pid;
	uint32_t heirs[POOL_HEIRS]; /* forked children whose birth was told */
	unsigned heir_count;
};

struct ppi_pool {
	unsigned holders;
	int index_id;
	struct share_index *index;
	char name[16];
	size_t ring_bytes, stack_bytes; /* of each area */
	struct pool_area *areas; /* as many as index->count */
	size_t count;
};

/* Make areas until so many are free. False when the system has no more. */
bool ppi_pool_fill(struct ppi_pool *pool, size_t free_areas);

/* The area, whose session has ended and was read to its end, can be taken
 * again. */
void ppi_pool_give_back(struct ppi_pool *pool, size_t number);

#endif
