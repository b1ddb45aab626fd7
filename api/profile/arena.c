/* SPDX-License-Identifier: MIT */
/* Memory that is freed all at once, and does not move until then. */
#include "api/profile/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct ppi_arena_chunk {
	struct ppi_arena_chunk *next;
	size_t room;
	uint64_t memory[];
};

enum { FIRST_BYTES = 4096, LARGEST_BYTES = 1 << 20 };

static struct ppi_arena_chunk *add_chunk(struct ppi_arena *arena, size_t bytes)
{
	size_t room = arena->chunks ? arena->chunks->room * 2 : FIRST_BYTES;
	struct ppi_arena_chunk *chunk;

	if (room > LARGEST_BYTES)
		room = LARGEST_BYTES;
	if (room < bytes)
		room = bytes;
	chunk = malloc(sizeof(*chunk) + room);
	if (!chunk)
		return NULL;
	chunk->next = arena->chunks;
	chunk->room = room;
	arena->chunks = chunk;
	arena->used = 0;
	arena->total += room;
	return chunk;
}

void *ppi_arena_take(struct ppi_arena *arena, size_t bytes)
{
	struct ppi_arena_chunk *chunk = arena->chunks;
	void *taken;

	if (bytes > SIZE_MAX / 2)
		return NULL;
	bytes = (bytes + 7) & ~(size_t)7;
	if (!chunk || bytes > chunk->room - arena->used) {
		chunk = add_chunk(arena, bytes);
		if (!chunk)
			return NULL;
	}
	taken = (char *)chunk->memory + arena->used;
	arena->used += bytes;
	return taken;
}

char *ppi_arena_copy(struct ppi_arena *arena, const void *from, size_t bytes)
{
	char *copy = ppi_arena_take(arena, bytes + 1);

	if (!copy)
		return NULL;
	if (bytes)
		memcpy(copy, from, bytes);
	copy[bytes] = '\0';
	return copy;
}

/* Free all chunks but `kept`. */
static void drop_chunks(struct ppi_arena *arena, struct ppi_arena_chunk *kept)
{
	struct ppi_arena_chunk *chunk = arena->chunks;

	while (chunk) {
		struct ppi_arena_chunk *next = chunk->next;

		if (chunk != kept)
			free(chunk);
		chunk = next;
	}
	memset(arena, 0, sizeof(*arena));
}

void ppi_arena_reset(struct ppi_arena *arena)
{
	struct ppi_arena_chunk *kept = arena->chunks;

	for (struct ppi_arena_chunk *c = kept; c; c = c->next)
		if (c->room > kept->room)
			kept = c;
	drop_chunks(arena, kept);
	if (!kept)
		return;
	kept->next = NULL;
	arena->chunks = kept;
	arena->total = kept->room;
}

void ppi_arena_free(struct ppi_arena *arena)
{
	drop_chunks(arena, NULL);
}
