/* SPDX-License-Identifier: MIT */
/* Memory that is freed all at once, and byte strings numbered as they come. */
#include "config.h"

#include "base/pool.h"

#include <stdlib.h>
#include <string.h>

/* ---- arena ---- */

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

/* ---- pool ---- */

/*
 * A set of byte strings, numbered in the order in which they were added: a hash
 * table with open addressing and linear probing. A profile of millions of
 * samples is mostly look-ups here, and each should touch little memory.
 */

struct ppi_pool_node {
	uint32_t bytes; /* of the key */
	uint32_t hash;
	uint64_t key[];
};

/* A slot: the hash, so that most others are told apart without their nodes,
 * and the number + 1; all zero is free. */
struct ppi_pool_slot {
	uint32_t hash, number;
};

enum { FIRST_SLOTS = 64 };

/* Multiply and fold, a word at a time: keys are mostly addresses. */
static uint32_t hash_of(const void *key, size_t bytes)
{
	const char *at = key;
	uint64_t hash = bytes * 0x9e3779b97f4a7c15u, word;

	for (; bytes >= 8; bytes -= 8, at += 8) {
		memcpy(&word, at, 8);
		hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 32;
	}
	if (bytes) {
		word = 0;
		memcpy(&word, at, bytes);
		hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 32;
	}
	hash *= 0xd6e8feb86659fd93u;
	return (uint32_t)(hash >> 32);
}

static const struct ppi_pool_node *node_of(const struct ppi_pool *pool,
                                           uint32_t number)
{
	return PPI_AT(&pool->nodes, struct ppi_pool_node *)[number];
}

/* The slot where the key is, or the free one where it would go. */
static size_t find(const struct ppi_pool *pool, const void *key, size_t bytes,
                   uint32_t hash)
{
	size_t mask = pool->slot_count - 1, at = hash & mask;

	for (; pool->slots[at].number; at = (at + 1) & mask) {
		const struct ppi_pool_node *node;

		if (pool->slots[at].hash != hash)
			continue;
		node = node_of(pool, pool->slots[at].number - 1);
		if (node->bytes == bytes &&
		    (bytes == 0 || memcmp(node->key, key, bytes) == 0))
			break;
	}
	return at;
}

uint32_t ppi_pool_find(const struct ppi_pool *pool, const void *key,
                       size_t bytes)
{
	if (pool->nodes.count == 0)
		return PPI_NONE;
	/* a free slot has the number 0, and PPI_NONE is 0 - 1 */
	return pool->slots[find(pool, key, bytes, hash_of(key, bytes))].number -
	       1;
}

/* Twice the slots. */
static bool grow(struct ppi_pool *pool)
{
	size_t count = pool->slot_count ? 2 * pool->slot_count : FIRST_SLOTS;
	struct ppi_pool_slot *slots = calloc(count, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < pool->slot_count; i++) {
		size_t at = pool->slots[i].hash & (count - 1);

		if (pool->slots[i].number == 0)
			continue;
		while (slots[at].number)
			at = (at + 1) & (count - 1);
		slots[at] = pool->slots[i];
	}
	free(pool->slots);
	pool->slots = slots;
	pool->slot_count = count;
	return true;
}

/* Three of four slots are used at most. */
static bool has_room(const struct ppi_pool *pool)
{
	return pool->nodes.count < pool->slot_count / 4 * 3;
}

uint32_t ppi_pool_enter(struct ppi_pool *pool, const void *key, size_t bytes)
{
	uint32_t hash = hash_of(key, bytes);
	size_t count = pool->nodes.count, at;
	struct ppi_pool_node *node;

	if (!has_room(pool) && !grow(pool))
		return ppi_pool_find(pool, key, bytes);
	at = find(pool, key, bytes, hash);
	if (pool->slots[at].number)
		return pool->slots[at].number - 1;
	if (count >= PPI_NONE - 1 || bytes > UINT32_MAX ||
	    !ppi_vector_reserve(&pool->nodes, sizeof(node), 1))
		return PPI_NONE;
	node = ppi_arena_take(&pool->arena, sizeof(*node) + bytes + 1);
	if (!node)
		return PPI_NONE;
	node->bytes = (uint32_t)bytes;
	node->hash = hash;
	if (bytes)
		memcpy(node->key, key, bytes);
	((char *)node->key)[bytes] = '\0';
	pool->slots[at].hash = hash;
	pool->slots[at].number = (uint32_t)count + 1;
	ppi_vector_add(&pool->nodes, sizeof(node), &node, 1);
	return (uint32_t)count;
}

const void *ppi_pool_key(const struct ppi_pool *pool, uint32_t number,
                         size_t *bytes)
{
	const struct ppi_pool_node *node = node_of(pool, number);

	if (bytes)
		*bytes = node->bytes;
	return node->key;
}

/* Those behind it that had to give way to it come forward. */
static void free_slot(struct ppi_pool *pool, size_t gap)
{
	size_t mask = pool->slot_count - 1;

	for (size_t at = (gap + 1) & mask; pool->slots[at].number;
	     at = (at + 1) & mask) {
		size_t home = pool->slots[at].hash & mask;

		/* it may go to the gap unless its home lies in between */
		if (((at - home) & mask) < ((at - gap) & mask))
			continue;
		pool->slots[gap] = pool->slots[at];
		gap = at;
	}
	pool->slots[gap] = (struct ppi_pool_slot){ 0, 0 };
}

void ppi_pool_drop_last(struct ppi_pool *pool)
{
	uint32_t last = (uint32_t)--pool->nodes.count;
	size_t at = node_of(pool, last)->hash & (pool->slot_count - 1);

	while (pool->slots[at].number != last + 1)
		at = (at + 1) & (pool->slot_count - 1);
	free_slot(pool, at);
}

void ppi_pool_clear(struct ppi_pool *pool)
{
	if (pool->nodes.count)
		memset(pool->slots, 0,
		       pool->slot_count * sizeof(*pool->slots));
	pool->nodes.count = 0;
	ppi_arena_reset(&pool->arena);
}

void ppi_pool_free(struct ppi_pool *pool)
{
	free(pool->slots);
	pool->slots = NULL;
	pool->slot_count = 0;
	ppi_vector_free(&pool->nodes);
	ppi_arena_free(&pool->arena);
}

uint64_t ppi_pool_bytes(const struct ppi_pool *pool)
{
	return pool->arena.total + pool->nodes.room * sizeof(void *) +
	       pool->slot_count * 2 * sizeof(uint32_t);
}
