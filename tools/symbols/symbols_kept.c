/* SPDX-License-Identifier: MIT */
/* What was found out about files, in memory that processes share. */
#include "config.h"

#include "tools/symbols/symbols_kept.h"

#include "base/clock_ns.h"
#include "base/hash.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { SLOTS = 1 << 16, ALIGNMENT = 16 };

/* Debug files come, and a kernel's functions change. */
#define OLD_NS UINT64_C(3600000000000)

/* A value, behind its key. */
struct entry {
	uint64_t hash;
	size_t key_bytes, bytes; /* with the zero byte; of the value */
};

struct ppi_kept {
	size_t room, used, next; /* next: `used` when the last one is done */
	uint64_t began_ns;
	size_t entries;
	bool is_full;
	size_t slots[SLOTS]; /* where entries are; 0 none */
	char values[];
};

#ifndef MAP_ANONYMOUS
#define MAP_ANONYMOUS MAP_ANON
#endif

static size_t align(size_t bytes)
{
	return (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
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

static uint64_t hash_of(const char *key)
{
	uint64_t hash = ppi_hash_add(PPI_HASH_BEGIN, key, strlen(key));

	return hash ? hash : 1;
}

/* ---- its life ---- */

static void clear(struct ppi_kept *kept)
{
	memset(kept->slots, 0, sizeof(kept->slots));
	kept->used = align(sizeof(*kept));
	kept->entries = 0;
	kept->is_full = false;
	kept->began_ns = ppi_monotonic_ns();
}

struct ppi_kept *ppi_kept_new(size_t bytes)
{
	struct ppi_kept *kept = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (kept == MAP_FAILED)
		return NULL;
	kept->room = bytes;
	kept->is_full = true; /* nothing is in it: it is touched when it is used */
	return kept;
}

void ppi_kept_free(struct ppi_kept *kept)
{
	if (kept)
		munmap(kept, kept->room);
}

void ppi_kept_begin(struct ppi_kept *kept)
{
	if (kept && (kept->is_full ||
	             ppi_monotonic_ns() - kept->began_ns > OLD_NS))
		clear(kept);
}

/* ---- values ---- */

/* Where it is, or would be; NULL: neither. */
static size_t *find_slot(const struct ppi_kept *kept, const char *key,
                         uint64_t hash)
{
	size_t *slots = ((struct ppi_kept *)(uintptr_t)kept)->slots;

	for (size_t i = 0; i < SLOTS; i++) {
		size_t *slot = &slots[(hash + i) % SLOTS];
		struct entry *entry;

		if (!*slot)
			return slot;
		entry = entry_at(kept, *slot);
		if (entry->hash == hash && strcmp(key_of(entry), key) == 0)
			return slot;
	}
	return NULL;
}

const void *ppi_kept_find(const struct ppi_kept *kept, const char *key,
                          size_t *bytes)
{
	const size_t *slot = kept ? find_slot(kept, key, hash_of(key)) : NULL;

	if (!slot || !*slot)
		return NULL;
	*bytes = entry_at(kept, *slot)->bytes;
	return value_of(entry_at(kept, *slot));
}

void *ppi_kept_room(struct ppi_kept *kept, const char *key, size_t bytes)
{
	size_t key_bytes, whole;
	struct entry *entry;

	if (!kept || kept->is_full)
		return NULL;
	key_bytes = strlen(key) + 1;
	whole = align(sizeof(*entry) + key_bytes) + align(bytes);
	/* one may not take all of it, again and again */
	if (bytes > kept->room / 2)
		return NULL;
	if (whole > kept->room - kept->used || kept->entries >= SLOTS / 2) {
		kept->is_full = true;
		return NULL;
	}
	entry = entry_at(kept, kept->used);
	entry->hash = hash_of(key);
	entry->key_bytes = key_bytes;
	entry->bytes = bytes;
	memcpy(key_of(entry), key, key_bytes);
	kept->next = kept->used + whole;
	return value_of(entry);
}

void ppi_kept_done(struct ppi_kept *kept)
{
	struct entry *entry = entry_at(kept, kept->used);
	size_t *slot = find_slot(kept, key_of(entry), entry->hash);

	if (!slot)
		return;
	*slot = kept->used;
	kept->used = kept->next;
	kept->entries++;
}
