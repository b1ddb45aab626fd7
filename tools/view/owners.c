/* SPDX-License-Identifier: MIT */
/* Whose a sample is. */
#include "config.h"

#include "tools/view/owners.h"

#include "tools/view/row.h"

#include <stdlib.h>
#include <string.h>

#include <uthash.h>

/* Names are kept once each, so their addresses tell them apart. */
struct key {
	const char *name;
	uint32_t pid, tid;
};

struct ppi_owner_entry {
	UT_hash_handle hh;
	struct key key;
	struct ppi_owner owner;
};

bool ppi_owners_open(struct ppi_owners *owners, const portprof_profile *profile,
                     unsigned keys)
{
	size_t count = portprof_profile_thread_count(profile);

	memset(owners, 0, sizeof(*owners));
	owners->profile = profile;
	owners->keys = keys;
	for (size_t i = 0; i < count; i++) {
		const portprof_profile_thread *thread =
			portprof_profile_thread_get(profile, i);

		if (ppi_pairs_enter(&owners->named_threads, thread->pid,
		                    thread->tid) == PPI_NO_PAIR)
			return false;
	}
	return true;
}

/* Each thread is in a profile once, so its number is that of its pair. */
static const char *last_name(const struct ppi_owners *owners, uint32_t pid,
                             uint32_t tid)
{
	uint32_t number = ppi_pairs_find(&owners->named_threads, pid, tid);

	if (number == PPI_NO_PAIR)
		return "";
	return portprof_profile_thread_get(owners->profile, number)->name;
}

/* That its thread had then, where the file says so. */
static const char *name_then(const struct ppi_owners *owners,
                             const portprof_profile_sample *sample)
{
	const char *name = sample->thread_name;

	if (name && name[0])
		return name;
	/* of a file that keeps neither */
	if (!sample->pid && !sample->tid)
		return "(unknown)";
	return last_name(owners, sample->pid, sample->tid);
}

static struct ppi_owner_entry *add(struct ppi_owners *owners,
                                   const struct key *key,
                                   const portprof_profile_sample *sample)
{
	bool is_process = !(owners->keys & PPI_BY_THREAD);
	struct ppi_owner_entry *entry = malloc(sizeof(*entry));
	const char *name = key->name;

	if (!entry)
		return NULL;
	if (!name)
		name = last_name(owners, sample->pid,
		                 is_process ? sample->pid : sample->tid);
	entry->key = *key;
	entry->owner =
		(struct ppi_owner){ key->pid, key->tid, name, owners->count++ };
	HASH_ADD(hh, owners->table, key, sizeof(entry->key), entry);
	return entry;
}

/* A thread is one row, by its last name, unless rows are by names. What has no
 * number (the idle task, what had exited) is told apart by names always. */
const struct ppi_owner *
ppi_owners_find(struct ppi_owners *owners,
                const portprof_profile_sample *sample)
{
	struct ppi_owner_entry *entry = owners->last;
	struct key key;

	memset(&key, 0, sizeof(key)); /* padding is compared too */
	if (owners->keys & PPI_BY_PROCESS)
		key.pid = sample->pid;
	if (owners->keys & PPI_BY_THREAD)
		key.tid = sample->tid;
	if (owners->keys & PPI_BY_COMM || (!sample->pid && !sample->tid))
		key.name = name_then(owners, sample);
	if (!entry || memcmp(&entry->key, &key, sizeof(key)) != 0)
		HASH_FIND(hh, owners->table, &key, sizeof(key), entry);
	if (!entry)
		entry = add(owners, &key, sample);
	owners->last = entry;
	return entry ? &entry->owner : NULL;
}

void ppi_owners_close(struct ppi_owners *owners)
{
	struct ppi_owner_entry *entry, *next;

	HASH_ITER (hh, owners->table, entry, next) {
		HASH_DEL(owners->table, entry);
		free(entry);
	}
	ppi_pairs_free(&owners->named_threads);
}
