/* SPDX-License-Identifier: MIT */
/* Memory that is freed all at once, and does not move until then. */
#ifndef PPI_FILE_ARENA_H
#define PPI_FILE_ARENA_H

#include <stddef.h>

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

#endif
