/* SPDX-License-Identifier: MIT */
/* Chains of threads that still wait where they waited. */
#include "api/unwind/kept_chains.h"

#include <stdlib.h>
#include <string.h>

#include <uthash.h>

/* A chain that is cut to this is cut wherever it is had again. */
enum { DEPTH_MOST = 128 };

struct ppi_kept_chain {
	UT_hash_handle hh;
	uint64_t thread; /* pid, tid */
	uint64_t end;
	size_t depth;
	uint64_t addresses[];
};

static uint64_t thread_of(const portprof_record *record)
{
	return (uint64_t)record->pid << 32 | record->tid;
}

static struct ppi_kept_chain *find(const struct ppi_kept_chains *chains,
                                   uint64_t thread)
{
	struct ppi_kept_chain *chain;

	HASH_FIND(hh, chains->by_thread, &thread, sizeof(thread), chain);
	return chain;
}

static void forget(struct ppi_kept_chains *chains,
                   struct ppi_kept_chain *chain)
{
	if (!chain)
		return;
	HASH_DELETE(hh, chains->by_thread, chain);
	free(chain);
}

static void keep(struct ppi_kept_chains *chains,
                 const portprof_record *record, const uint64_t *words)
{
	size_t depth = (size_t)record->payload_words;
	struct ppi_kept_chain *chain;

	forget(chains, find(chains, thread_of(record)));
	if (depth > DEPTH_MOST)
		depth = DEPTH_MOST;
	chain = calloc(1, sizeof(*chain) + depth * sizeof(*words));
	if (!chain)
		return;
	chain->thread = thread_of(record);
	chain->end = record->chain_end;
	chain->depth = depth;
	memcpy(chain->addresses, words + record->payload,
	       depth * sizeof(*words));
	HASH_ADD(hh, chains->by_thread, thread, sizeof(chain->thread), chain);
}

static void give(const struct ppi_kept_chains *chains, portprof_record *record,
                 uint64_t *words)
{
	const struct ppi_kept_chain *chain = find(chains, thread_of(record));
	size_t depth = chain ? chain->depth : 0;

	if (depth > record->payload_words)
		depth = (size_t)record->payload_words;
	record->payload_words = depth;
	if (!depth)
		return;
	memcpy(words + record->payload, chain->addresses,
	       depth * sizeof(*words));
	record->valid |= PORTPROF_FIELD_CHAIN;
	record->chain_end = chain->end;
}

void ppi_kept_chains_take(struct ppi_kept_chains *chains,
                          struct ppi_room *room)
{
	for (size_t i = 0; i < room->record_count; i++) {
		portprof_record *record = &room->records[i];

		if (record->kind == PORTPROF_RECORD_EXIT) {
			forget(chains, find(chains, thread_of(record)));
			continue;
		}
		if (record->kind != PORTPROF_RECORD_SAMPLE)
			continue;
		if (record->valid & PPI_FIELD_KEEP)
			keep(chains, record, room->words);
		if (record->valid & PPI_FIELD_AGAIN)
			give(chains, record, room->words);
		record->valid &= ~(PPI_FIELD_KEEP | PPI_FIELD_AGAIN);
	}
}

void ppi_kept_chains_free(struct ppi_kept_chains *chains)
{
	struct ppi_kept_chain *chain, *next;

	HASH_ITER(hh, chains->by_thread, chain, next)
		forget(chains, chain);
}
