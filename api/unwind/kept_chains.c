/* SPDX-License-Identifier: MIT */
/* Chains of threads that still wait where they waited, or were where they wait for
 * a CPU. */
#include "api/unwind/kept_chains.h"

#include <stdlib.h>
#include <string.h>

#include <uthash.h>

/* A chain that is cut to this is cut wherever it is had again. */
enum { DEPTH_MOST = 128 };

/* Chains of threads that have ended. */
enum { ENDED_MOST = 256 };

struct ppi_kept_chain {
	UT_hash_handle hh;
	struct ppi_kept_key {
		uint32_t pid, tid;
		uint32_t has_run, unused;
	} key;
	uint64_t address, end;
	uint32_t valid; /* what it says of the address */
	uint32_t set;   /* that its thread was in, if that is known */
	bool has_ended;
	size_t depth;
	uint64_t addresses[];
};

static struct ppi_kept_key key_of(const portprof_record *record, bool has_run)
{
	return (struct ppi_kept_key){ record->pid, record->tid, has_run, 0 };
}

static struct ppi_kept_chain *find(const struct ppi_kept_chains *chains,
                                   struct ppi_kept_key key)
{
	struct ppi_kept_chain *chain;

	HASH_FIND(hh, chains->by_thread, &key, sizeof(key), chain);
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

static uint32_t set_of(const portprof_record *record)
{
	return record->valid & PORTPROF_FIELD_LABELS ? record->label_set : 0;
}

/* Who has changed sets since it ran there waits for a CPU at another place. */
static bool is_of_before(const struct ppi_kept_chains *chains,
                         const struct ppi_kept_chain *chain,
                         const portprof_record *record)
{
	return chains->has_sets && record->valid & PPI_FIELD_LABELLED &&
	       set_of(record) != PORTPROF_LABEL_SET_UNKNOWN &&
	       set_of(record) != chain->set;
}

static void keep(struct ppi_kept_chains *chains,
                 const portprof_record *record, const uint64_t *words)
{
	struct ppi_kept_key key =
		key_of(record, record->valid & PPI_FIELD_RAN);
	size_t depth = record->valid & PORTPROF_FIELD_CHAIN
	                       ? (size_t)record->payload_words : 0;
	struct ppi_kept_chain *chain;

	forget(chains, find(chains, key));
	if (depth > DEPTH_MOST)
		depth = DEPTH_MOST;
	chain = calloc(1, sizeof(*chain) + depth * sizeof(*words));
	if (!chain)
		return;
	chain->key = key;
	chain->address = record->address;
	chain->valid = record->valid & (PORTPROF_FIELD_KERNEL |
	                                PORTPROF_FIELD_GUEST);
	chain->set = set_of(record);
	chain->end = record->chain_end;
	chain->depth = depth;
	memcpy(chain->addresses, words + record->payload,
	       depth * sizeof(*words));
	HASH_ADD(hh, chains->by_thread, key, sizeof(key), chain);
}

static void give(const struct ppi_kept_chains *chains, portprof_record *record,
                 uint64_t *words)
{
	bool has_run = record->valid & PPI_FIELD_RAN;
	const struct ppi_kept_chain *chain =
		find(chains, key_of(record, has_run));
	size_t depth;

	if (chain && has_run && is_of_before(chains, chain, record))
		chain = NULL;
	depth = chain ? chain->depth : 0;
	if (depth > record->payload_words)
		depth = (size_t)record->payload_words;
	record->payload_words = depth;
	if (chain && has_run) {
		record->address = chain->address;
		record->valid &= ~(uint32_t)PORTPROF_FIELD_NOT_SEEN;
		record->valid |= chain->valid;
	}
	if (!depth)
		return;
	memcpy(words + record->payload, chain->addresses,
	       depth * sizeof(*words));
	record->valid |= PORTPROF_FIELD_CHAIN;
	record->chain_end = chain->end;
}

static void end(struct ppi_kept_chains *chains, struct ppi_kept_chain *chain)
{
	struct ppi_kept_chain *next;

	if (!chain || chain->has_ended)
		return;
	chain->has_ended = true;
	if (++chains->ended < ENDED_MOST)
		return;
	HASH_ITER(hh, chains->by_thread, chain, next)
		if (chain->has_ended)
			forget(chains, chain);
	chains->ended = 0;
}

void ppi_kept_chains_take(struct ppi_kept_chains *chains,
                          struct ppi_room *room)
{
	for (size_t i = 0; i < room->record_count; i++) {
		portprof_record *record = &room->records[i];

		if (record->kind == PORTPROF_RECORD_EXIT) {
			end(chains, find(chains, key_of(record, false)));
			end(chains, find(chains, key_of(record, true)));
			continue;
		}
		if (record->kind != PORTPROF_RECORD_SAMPLE)
			continue;
		if (record->valid & PPI_FIELD_KEEP)
			keep(chains, record, room->words);
		if (record->valid & PPI_FIELD_AGAIN)
			give(chains, record, room->words);
		record->valid &= ~(PPI_FIELD_KEEP | PPI_FIELD_AGAIN |
		                   PPI_FIELD_RAN);
	}
}

void ppi_kept_chains_free(struct ppi_kept_chains *chains)
{
	struct ppi_kept_chain *chain, *next;

	HASH_ITER(hh, chains->by_thread, chain, next)
		forget(chains, chain);
}
