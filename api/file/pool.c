/* SPDX-License-Identifier: MIT */
/* A set of byte strings, each numbered in the order of its first coming. */
#include "api/file/pool.h"

#include <stdlib.h>
#include <string.h>

/* Out of memory must not end the program that is measured; a failed add is
 * seen by its handle pointing to no table. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct ppi_pool_node {
	UT_hash_handle hh;
	uint32_t number;
	uint64_t key[];
};

/* Multiply and fold, a word at a time: keys are mostly addresses. */
static unsigned hash_of(const void *key, size_t bytes)
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
	return (unsigned)(hash >> 32);
}

static struct ppi_pool_node *find(const struct ppi_pool *pool, const void *key,
                                  size_t bytes, unsigned hash)
{
	struct ppi_pool_node *node;

	if (bytes == 0)
		key = ""; /* memcmp takes no NULL, however little of it */
	HASH_FIND_BYHASHVALUE(hh, pool->head, key, bytes, hash, node);
	return node;
}

uint32_t ppi_pool_find(const struct ppi_pool *pool, const void *key,
                       size_t bytes)
{
	struct ppi_pool_node *node =
		find(pool, key, bytes, hash_of(key, bytes));

	return node ? node->number : PPI_NONE;
}

uint32_t ppi_pool_enter(struct ppi_pool *pool, const void *key, size_t bytes)
{
	unsigned hash = hash_of(key, bytes);
	struct ppi_pool_node *node = find(pool, key, bytes, hash);
	size_t count = pool->nodes.count;

	if (node)
		return node->number;
	if (count >= PPI_NONE || bytes > UINT32_MAX ||
	    !ppi_vector_reserve(&pool->nodes, sizeof(node), 1))
		return PPI_NONE;
	node = ppi_arena_take(&pool->arena, sizeof(*node) + bytes + 1);
	if (!node)
		return PPI_NONE;
	if (bytes)
		memcpy(node->key, key, bytes);
	((char *)node->key)[bytes] = '\0';
	node->number = (uint32_t)count;
	HASH_ADD_KEYPTR_BYHASHVALUE(hh, pool->head, node->key, bytes, hash,
	                            node);
	if (!node->hh.tbl)
		return PPI_NONE;
	ppi_vector_add(&pool->nodes, sizeof(node), &node, 1);
	return node->number;
}

const void *ppi_pool_key(const struct ppi_pool *pool, uint32_t number,
                         size_t *bytes)
{
	const struct ppi_pool_node *node =
		PPI_AT(&pool->nodes, struct ppi_pool_node *)[number];

	if (bytes)
		*bytes = node->hh.keylen;
	return node->key;
}

void ppi_pool_drop_last(struct ppi_pool *pool)
{
	struct ppi_pool_node *node;

	node = PPI_AT(&pool->nodes, struct ppi_pool_node *)
		[--pool->nodes.count];
	HASH_DELETE(hh, pool->head, node);
}

void ppi_pool_clear(struct ppi_pool *pool)
{
	HASH_CLEAR(hh, pool->head);
	pool->nodes.count = 0;
	ppi_arena_reset(&pool->arena);
}

void ppi_pool_free(struct ppi_pool *pool)
{
	HASH_CLEAR(hh, pool->head);
	ppi_vector_free(&pool->nodes);
	ppi_arena_free(&pool->arena);
}
