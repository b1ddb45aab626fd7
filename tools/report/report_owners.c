/* SPDX-License-Identifier: MIT */
/* Whose a sample is. What makes two threads one owner is found once for each
 * thread; a sample costs one look into a table of pairs. */
#include "config.h"

#include "tools/report/report_owners.h"

#include "tools/report/report_row.h"

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
static const char *name_of(const struct ppi_owners *owners, uint32_t pid,
                           uint32_t tid)
{
	uint32_t number = ppi_pairs_find(&owners->named_threads, pid, tid);

	/* Nobody's number: of a file that keeps none, or of a process that
	 * had ended when its CPU was sampled (kernel/events/core.c,
	 * perf_event_pid_type, gives -1 then). */
	if (number == PPI_NO_PAIR)
		return pid || tid ? "" : "(unknown)";
	return portprof_profile_thread_get(owners->profile, number)->name;
}

static const struct ppi_owner *add(struct ppi_owners *owners, uint32_t pid,
                                   uint32_t tid)
{
	bool is_process = !(owners->keys & (PPI_BY_THREAD | PPI_BY_COMM));
	const char *name = name_of(owners, pid, is_process ? pid : tid);
	struct key key;
	struct ppi_owner_entry *entry;

	memset(&key, 0, sizeof(key)); /* padding is compared too */
	if (owners->keys & PPI_BY_PROCESS)
		key.pid = pid;
	if (owners->keys & PPI_BY_THREAD)
		key.tid = tid;
	if (owners->keys & PPI_BY_COMM)
		key.name = name;
	HASH_FIND(hh, owners->table, &key, sizeof(key), entry);
	if (entry)
		return &entry->owner;
	entry = malloc(sizeof(*entry));
	if (!entry)
		return NULL;
	entry->key = key;
	entry->owner =
		(struct ppi_owner){ key.pid, key.tid, name, owners->count++ };
	HASH_ADD(hh, owners->table, key, sizeof(entry->key), entry);
	return &entry->owner;
}

const struct ppi_owner *ppi_owners_find(struct ppi_owners *owners, uint32_t pid,
                                        uint32_t tid)
{
	uint32_t known = owners->threads.count;
	uint32_t thread = ppi_pairs_enter(&owners->threads, pid, tid);
	void *grown;

	if (thread == PPI_NO_PAIR)
		return NULL;
	if (thread < known)
		return owners->of_thread[thread];
	grown = realloc(owners->of_thread,
	                (thread + 1u) * sizeof(*owners->of_thread));
	if (!grown)
		return NULL;
	owners->of_thread = grown;
	owners->of_thread[thread] = add(owners, pid, tid);
	return owners->of_thread[thread];
}

void ppi_owners_close(struct ppi_owners *owners)
{
	struct ppi_owner_entry *entry, *next;

	HASH_ITER (hh, owners->table, entry, next) {
		HASH_DEL(owners->table, entry);
		free(entry);
	}
	free(owners->of_thread);
	ppi_pairs_free(&owners->threads);
	ppi_pairs_free(&owners->named_threads);
}
