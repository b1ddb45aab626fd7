/* SPDX-License-Identifier: MIT */
/* A set of byte strings, numbered in the order in which they were added. */
#ifndef PPI_FILE_POOL_H
#define PPI_FILE_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "api/profile/arena.h"
#include "base/vector.h"

struct ppi_pool_slot;

/* All zero is an empty pool. */
struct ppi_pool {
	struct ppi_pool_slot *slots;
	size_t slot_count;       /* a power of two, or 0 */
	struct ppi_vector nodes; /* of pointers, by number */
	struct ppi_arena arena;
};

#define PPI_NONE UINT32_MAX

/* The number of a key, entered when it is new (then `pool->nodes.count` has
 * grown by one). PPI_NONE when out of memory. */
uint32_t ppi_pool_enter(struct ppi_pool *pool, const void *key, size_t bytes);

/* The number of a key, or PPI_NONE. */
uint32_t ppi_pool_find(const struct ppi_pool *pool, const void *key,
                       size_t bytes);

/* The key of a number: aligned to 8, a zero byte behind, stays in place. */
const void *ppi_pool_key(const struct ppi_pool *pool, uint32_t number,
                         size_t *bytes);

static inline size_t ppi_pool_count(const struct ppi_pool *pool)
{
	return pool->nodes.count;
}

/* Take the youngest entry away. */
void ppi_pool_drop_last(struct ppi_pool *pool);

/* Forget all; clear keeps some memory for what comes next. */
void ppi_pool_clear(struct ppi_pool *pool);
void ppi_pool_free(struct ppi_pool *pool);

#endif
