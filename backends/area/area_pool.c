/* SPDX-License-Identifier: MIT */
/* A pool of areas of shared memory, and their users. */
#include "config.h"

#include "backends/area/area_pool.h"

#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

portprof_status ppi_pool_open(struct ppi_pool **pool, struct ppi_diag *why)
{
	struct ppi_pool *opened = calloc(1, sizeof(*opened));
	void *memory;

	if (!opened)
		return ppi_fail(why, PORTPROF_E_NOMEM, 0, "share memory",
		                "out of memory");
	opened->areas = calloc(SHARE_AREAS_MAX, sizeof(*opened->areas));
	if (!opened->areas ||
	    ppi_shared_memory_create(sizeof(struct share_index),
	                             &opened->index_id, &memory) != 0) {
		int error = errno;

		free(opened->areas);
		free(opened);
		return ppi_fail(why, error == ENOSYS ? PORTPROF_E_UNSUPPORTED
		                                     : PORTPROF_E_LIMIT,
		                error, "share memory",
		                "memory to share with the measured processes "
		                "cannot be made (shmget): %s", strerror(error));
	}
	opened->index = memory;
	opened->holders = 1;
	snprintf(opened->name, sizeof(opened->name), "%d", opened->index_id);
	opened->index->layout = SHARE_LAYOUT;
	opened->index->word_bytes = sizeof(size_t);
	opened->index->magic = SHARE_MAGIC;
	*pool = opened;
	return PORTPROF_OK;
}

struct ppi_pool *ppi_pool_hold(struct ppi_pool *pool)
{
	if (pool)
		pool->holders++;
	return pool;
}

void ppi_pool_release(struct ppi_pool *pool)
{
	if (!pool || --pool->holders > 0)
		return;
	for (size_t i = 0; i < pool->count; i++)
		ppi_shared_memory_free(pool->areas[i].id,
		                       pool->areas[i].shared);
	ppi_shared_memory_free(pool->index_id, pool->index);
	free(pool->areas);
	free(pool);
}

const char *ppi_pool_name(const struct ppi_pool *pool)
{
	return pool->name;
}

static bool add_area(struct ppi_pool *pool)
{
	struct pool_area *area = &pool->areas[pool->count];
	size_t stream_bytes = ppi_stream_bytes(SHARE_STREAM_BYTES);
	struct share_slot *slot = &pool->index->slots[pool->count];
	void *memory;

	if (pool->count == SHARE_AREAS_MAX ||
	    ppi_shared_memory_create(share_area_bytes(pool->ring_bytes,
	                                              stream_bytes),
	                             &area->id, &memory) != 0)
		return false;
	area->shared = memory;
	area->shared->ring_bytes = pool->ring_bytes;
	area->shared->stack_bytes = pool->stack_bytes;
	ppi_tick_ring_use(&area->ring, pool->stack_bytes,
	                  share_ring_at(area->shared), pool->ring_bytes, false);
	ppi_stream_use(&area->stream,
	               share_stream_at(area->shared, pool->ring_bytes),
	               stream_bytes);
	slot->id = area->id;
	atomic_store(&slot->state, SHARE_FREE);
	pool->count++;
	atomic_store(&pool->index->count, (uint32_t)pool->count);
	return true;
}

bool ppi_pool_fill(struct ppi_pool *pool, size_t free_areas)
{
	size_t count = 0;

	for (size_t i = 0; i < pool->count; i++)
		count += atomic_load(&pool->index->slots[i].state) ==
		         SHARE_FREE;
	for (; count < free_areas; count++)
		if (!add_area(pool))
			return false;
	return true;
}

void ppi_pool_give_back(struct ppi_pool *pool, size_t number)
{
	struct pool_area *area = &pool->areas[number];
	struct share_area *shared = area->shared;

	ppi_stream_empty(&area->stream);
	ppi_tick_ring_empty(&area->ring);
	memset(shared->accounts, 0, sizeof(shared->accounts));
	atomic_store(&shared->current, 0);
	atomic_store(&shared->use, SHARE_UNUSED);
	area->is_used = area->is_dead = area->is_told = false;
	atomic_store(&pool->index->slots[number].state, SHARE_FREE);
}
