/* SPDX-License-Identifier: MIT */
/* Memory that is freed all at once, and sets of byte strings that are numbered. */
#ifndef PPI_POOL_H
#define PPI_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/vector.h"

/* ---- an arena: memory that is freed all at once and does not move ---- */

struct ppi_arena_chunk;

struct ppi_arena {
	struct ppi_arena_chunk *chunks; /* the one in use first */
	size_t used;                    /* bytes of the first */
	size_t total;                   /* bytes of all */
};

/* `bytes` of memory, aligned to 8, not cleared; NULL when there is none. */
void *ppi_arena_take(struct ppi_arena *arena, size_t bytes);

/* A copy of bytes with a zero byte behind. */
char *ppi_arena_copy(struct ppi_arena *arena, const void *from, size_t bytes);

/* Everything taken is void; the largest chunk is kept for what comes. */
void ppi_arena_reset(struct ppi_arena *arena);
void ppi_arena_free(struct ppi_arena *arena);

/* ---- a pool: byte strings, numbered as they were added ---- */

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

/* The memory that it takes. */
uint64_t ppi_pool_bytes(const struct ppi_pool *pool);

#endif
