/* SPDX-License-Identifier: MIT */
/* What was found out about files, in memory that processes share. */
#include "config.h"

#include "tools/symbols/symbols_kept.h"

#include "base/clock_ns.h"
#include "base/hash.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A slot for so many bytes of the room, of which half may be taken. */
enum { ALIGNMENT = 16, SLOT_BYTES = 256 };

/* Debug files come, and a kernel's functions change. */
#define OLD_NS UINT64_C(3600000000000)

/* A value, behind its key. */
struct entry {
	uint64_t hash;
	size_t key_bytes, bytes; /* with the zero byte; of the value */
	uint64_t turn, uses; /* the last process that had it, and how many had */
};

struct ppi_kept {
	size_t room, used, next; /* next: `used` when the last one is done */
	uint64_t began_ns;
	uint64_t turn; /* of the processes, one after the other */
	size_t entries;
	bool is_full;  /* there was no room for one of them */
	volatile bool is_whole; /* false: who made room for others was killed */
	size_t slot_count;
	/* Where entries are, in ALIGNMENT bytes; 0 none. Behind them the entries. */
	uint32_t slots[];
};

/* Of the room, in eighths: what stays when others need some, and how far large ones
 * may go, of which each has more than such a part. */
enum { STAYS = 5, LARGE_GO = 7, LARGE_PART = 16 };

#ifndef MAP_ANONYMOUS
#define MAP_ANONYMOUS MAP_ANON
#endif

static size_t align(size_t bytes)
{
	return (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

/* Where the first one is. */
static size_t first_of(const struct ppi_kept *kept)
{
	return align(sizeof(*kept) + kept->slot_count * sizeof(kept->slots[0]));
}

static struct entry *entry_at(const struct ppi_kept *kept, size_t at)
{
	return (struct entry *)(void *)((char *)(uintptr_t)kept + at);
}

static char *key_of(struct entry *entry)
{
	return (char *)(entry + 1);
}

static void *value_of(struct entry *entry)
{
	return (char *)entry + align(sizeof(*entry) + entry->key_bytes);
}

static size_t whole_bytes(size_t key_bytes, size_t bytes)
{
	return align(sizeof(struct entry) + key_bytes) + align(bytes);
}

static uint64_t hash_of(const char *key)
{
	uint64_t hash = ppi_hash_add(PPI_HASH_BEGIN, key, strlen(key));

	return hash ? hash : 1;
}

/* ---- its life ---- */

static void clear(struct ppi_kept *kept)
{
	memset(kept->slots, 0, kept->slot_count * sizeof(kept->slots[0]));
	kept->used = first_of(kept);
	kept->entries = 0;
	kept->is_full = false;
	kept->is_whole = true;
	kept->began_ns = ppi_monotonic_ns();
}

/* Where it is, or would be; NULL: neither. */
static uint32_t *find_slot(const struct ppi_kept *kept, const char *key,
                           uint64_t hash)
{
	uint32_t *slots = ((struct ppi_kept *)(uintptr_t)kept)->slots;

	for (size_t i = 0; i < kept->slot_count; i++) {
		uint32_t *slot = &slots[(hash + i) % kept->slot_count];
		struct entry *entry;

		if (!*slot)
			return slot;
		entry = entry_at(kept, (size_t)*slot * ALIGNMENT);
		if (entry->hash == hash && strcmp(key_of(entry), key) == 0)
			return slot;
	}
	return NULL;
}

/* An entry, and what it costs to keep it: more if it is large, and if it was asked for
 * by few, or not for long. To make large ones again takes as long as they are large. */
struct cost {
	double cost;
	size_t at;
};

static int compare_costs(const void *left, const void *right)
{
	const struct cost *a = left, *b = right;

	if (a->cost != b->cost)
		return a->cost < b->cost ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

static int compare_places(const void *left, const void *right)
{
	const struct cost *a = left, *b = right;

	return a->at < b->at ? -1 : a->at > b->at;
}

static size_t list_costs(const struct ppi_kept *kept, struct cost *costs)
{
	size_t count = 0, at = first_of(kept);

	while (at < kept->used && count < kept->entries) {
		const struct entry *entry = entry_at(kept, at);
		double age = (double)(kept->turn - entry->turn);
		double bytes = (double)(entry->bytes < kept->room / LARGE_PART
			? entry->bytes : kept->room / LARGE_PART);

		costs[count++] = (struct cost){
			bytes * (1 + age) * (1 + age) / (double)entry->uses, at
		};
		at += whole_bytes(entry->key_bytes, entry->bytes);
	}
	return count;
}

/* Those for which there is room, in their order: how many. */
static size_t pick_stays(const struct ppi_kept *kept, struct cost *costs,
                         size_t count)
{
	size_t left = kept->room / 8 * STAYS - first_of(kept), stays = 0;

	for (size_t i = 0; i < count && stays < kept->slot_count / 4; i++) {
		const struct entry *entry = entry_at(kept, costs[i].at);
		size_t whole = whole_bytes(entry->key_bytes, entry->bytes);

		if (whole > left)
			continue;
		left -= whole;
		costs[stays++] = costs[i];
	}
	return stays;
}

/* Move those that stay together. */
static void move_stays(struct ppi_kept *kept, const struct cost *stays,
                       size_t count)
{
	kept->is_whole = false;
	clear(kept);
	kept->is_whole = false;
	for (size_t i = 0; i < count; i++) {
		struct entry *entry = entry_at(kept, stays[i].at);
		size_t whole = whole_bytes(entry->key_bytes, entry->bytes);

		memmove(entry_at(kept, kept->used), entry, whole);
		entry = entry_at(kept, kept->used);
		*find_slot(kept, key_of(entry), entry->hash) =
			(uint32_t)(kept->used / ALIGNMENT);
		kept->used += whole;
		kept->entries++;
	}
	kept->is_whole = true;
}

/* Others need room: what is small and was asked for of late stays. */
static void make_room(struct ppi_kept *kept)
{
	struct cost *costs = malloc((kept->entries + 1) * sizeof(*costs));
	uint64_t began_ns = kept->began_ns;
	size_t count;

	if (!costs) {
		clear(kept);
		return;
	}
	count = list_costs(kept, costs);
	qsort(costs, count, sizeof(*costs), compare_costs);
	count = pick_stays(kept, costs, count);
	qsort(costs, count, sizeof(*costs), compare_places);
	move_stays(kept, costs, count);
	kept->began_ns = began_ns;
	free(costs);
}

struct ppi_kept *ppi_kept_new(size_t bytes)
{
	struct ppi_kept *kept = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (kept == MAP_FAILED)
		return NULL;
	kept->room = bytes;
	kept->slot_count = bytes / SLOT_BYTES;
	/* is_whole is not set: it is touched when it is used */
	return kept;
}

void ppi_kept_free(struct ppi_kept *kept)
{
	if (kept)
		munmap(kept, kept->room);
}

void ppi_kept_begin(struct ppi_kept *kept)
{
	if (!kept)
		return;
	if (!kept->is_whole || ppi_monotonic_ns() - kept->began_ns > OLD_NS)
		clear(kept);
	else if (kept->is_full)
		make_room(kept);
	kept->turn++;
}

/* ---- values ---- */

const void *ppi_kept_find(const struct ppi_kept *kept, const char *key,
                          size_t *bytes)
{
	const uint32_t *slot = kept ? find_slot(kept, key, hash_of(key)) : NULL;
	struct entry *entry;

	if (!slot || !*slot)
		return NULL;
	entry = entry_at(kept, (size_t)*slot * ALIGNMENT);
	entry->uses += entry->turn != kept->turn;
	entry->turn = kept->turn;
	*bytes = entry->bytes;
	return value_of(entry);
}

void *ppi_kept_room(struct ppi_kept *kept, const char *key, size_t bytes)
{
	size_t key_bytes = strlen(key) + 1, whole, end;
	struct entry *entry;

	/* one may not take all of it, again and again */
	if (!kept || !kept->is_whole || bytes > kept->room / 2)
		return NULL;
	whole = whole_bytes(key_bytes, bytes);
	end = bytes > kept->room / LARGE_PART ? kept->room / 8 * LARGE_GO
	                                      : kept->room;
	if (kept->used > end || whole > end - kept->used ||
	    kept->entries >= kept->slot_count / 2) {
		kept->is_full = true;
		return NULL;
	}
	entry = entry_at(kept, kept->used);
	entry->hash = hash_of(key);
	entry->key_bytes = key_bytes;
	entry->bytes = bytes;
	entry->turn = kept->turn;
	entry->uses = 1;
	memcpy(key_of(entry), key, key_bytes);
	kept->next = kept->used + whole;
	return value_of(entry);
}

void ppi_kept_done(struct ppi_kept *kept)
{
	struct entry *entry = entry_at(kept, kept->used);
	uint32_t *slot = find_slot(kept, key_of(entry), entry->hash);

	if (!slot)
		return;
	*slot = (uint32_t)(kept->used / ALIGNMENT);
	kept->used = kept->next;
	kept->entries++;
}
