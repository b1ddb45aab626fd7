/* SPDX-License-Identifier: MIT */
/* Whose a sample is, numbered as they first come: threads, processes,
 * labels, and pairs of numbers. */
#include "config.h"

#include "tools/view/owners.h"

#include "tools/tools.h"
#include "tools/view/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* ---- pairs ---- */

/* A table with open slots: a report asks it once for each frame of a sample. */

static uint64_t join(uint32_t left, uint32_t right)
{
	return (uint64_t)left << 32 | right;
}

/* The slot where the pair is, or where it would go. */
static size_t slot_of(const struct ppi_pairs *pairs, uint64_t pair)
{
	uint64_t hash = pair * 0x9e3779b97f4a7c15u;
	size_t mask = pairs->slot_count - 1, at;

	hash ^= hash >> 32;
	for (at = (size_t)hash & mask; pairs->slots[at]; at = (at + 1) & mask)
		if (pairs->pairs[pairs->slots[at] - 1] == pair)
			break;
	return at;
}

/* Twice the slots, of which at most half are used, and as many pairs. */
static bool grow(struct ppi_pairs *pairs)
{
	struct ppi_pairs grown = *pairs;
	uint64_t *list;

	grown.slot_count = pairs->slot_count ? 2 * pairs->slot_count : 64;
	grown.slots = calloc(grown.slot_count, sizeof(*grown.slots));
	if (!grown.slots)
		return false;
	list = realloc(pairs->pairs, grown.slot_count / 2 * sizeof(*list));
	if (!list) {
		free(grown.slots);
		return false;
	}
	pairs->pairs = grown.pairs = list;
	for (uint32_t i = 0; i < pairs->count; i++)
		grown.slots[slot_of(&grown, list[i])] = i + 1;
	free(pairs->slots);
	*pairs = grown;
	return true;
}

uint32_t ppi_pairs_enter(struct ppi_pairs *pairs, uint32_t left, uint32_t right)
{
	uint64_t pair = join(left, right);
	size_t at;

	if (pairs->count == pairs->slot_count / 2 &&
	    (pairs->count >= PPI_NO_PAIR / 2 || !grow(pairs)))
		return PPI_NO_PAIR;
	at = slot_of(pairs, pair);
	if (pairs->slots[at] == 0) {
		pairs->pairs[pairs->count] = pair;
		pairs->slots[at] = ++pairs->count;
	}
	return pairs->slots[at] - 1;
}

uint32_t ppi_pairs_find(const struct ppi_pairs *pairs, uint32_t left,
                        uint32_t right)
{
	size_t at;

	if (pairs->count == 0)
		return PPI_NO_PAIR;
	at = slot_of(pairs, join(left, right));
	return pairs->slots[at] ? pairs->slots[at] - 1 : PPI_NO_PAIR;
}

void ppi_pairs_free(struct ppi_pairs *pairs)
{
	free(pairs->pairs);
	free(pairs->slots);
	memset(pairs, 0, sizeof(*pairs));
}

/* ---- threads and processes ---- */

/* Names are kept once each, so their addresses distinguish them. */
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

/* ---- labels: the value of one in each sample, as text ---- */

struct ppi_label_entry {
	UT_hash_handle hh;
	struct ppi_label_value value;
	char text[];
};

void ppi_labels_open(struct ppi_labels *labels, const portprof_profile *profile,
                     const char *name)
{
	memset(labels, 0, sizeof(*labels));
	labels->profile = profile;
	labels->missing = "(none)";
	snprintf(labels->name, sizeof(labels->name), "%.*s",
	         (int)strcspn(name, ",="), name);
}

bool ppi_label_find(const portprof_profile *profile,
                    const portprof_profile_sample *sample, const char *name,
                    portprof_profile_label *label)
{
	for (size_t i = 0;
	     portprof_profile_label_get(profile, sample, i, label); i++)
		if (strcmp(label->name, name) == 0)
			return true;
	return false;
}

const struct ppi_label_value *ppi_labels_enter(struct ppi_labels *labels,
                                               const char *text)
{
	size_t length = strlen(text);
	struct ppi_label_entry *entry;

	HASH_FIND(hh, labels->table, text, length, entry);
	if (entry)
		return &entry->value;
	entry = malloc(sizeof(*entry) + length + 1);
	if (!entry)
		return NULL;
	memcpy(entry->text, text, length + 1);
	entry->value = (struct ppi_label_value){ labels->count++, entry->text };
	HASH_ADD_KEYPTR(hh, labels->table, entry->text, length, entry);
	return &entry->value;
}

static const struct ppi_label_value *
value_of(struct ppi_labels *labels, const portprof_profile_sample *sample)
{
	portprof_profile_label label;
	char number[128];

	if (!ppi_label_find(labels->profile, sample, labels->name, &label) &&
	    (!labels->second || !ppi_label_find(labels->profile, sample,
	                                        labels->second, &label)))
		return ppi_labels_enter(labels, labels->missing);
	if (label.text[0])
		return ppi_labels_enter(labels, label.text);
	snprintf(number, sizeof(number), "%" PRId64 "%s%.90s", label.number,
	         label.unit[0] ? " " : "", label.unit);
	return ppi_labels_enter(labels, number);
}

/* Each frame of a sample's chain asks. */
const struct ppi_label_value *
ppi_labels_find(struct ppi_labels *labels,
                const portprof_profile_sample *sample)
{
	if (labels->last != sample || !labels->value) {
		labels->last = sample;
		labels->value = value_of(labels, sample);
	}
	return labels->value;
}

void ppi_labels_list(const struct ppi_labels *labels, const char **texts)
{
	const struct ppi_label_entry *entry;

	for (entry = labels->table; entry; entry = entry->hh.next)
		texts[entry->value.number] = entry->value.text;
}

void ppi_labels_close(struct ppi_labels *labels)
{
	struct ppi_label_entry *entry, *next;

	HASH_ITER (hh, labels->table, entry, next) {
		HASH_DEL(labels->table, entry);
		free(entry);
	}
}

/* ---- which labels there are ---- */

/* What portprof keeps of a sample beside what was asked for. */
bool ppi_label_is_own(const char *name)
{
	static const char *const own[] = {
		"pid", "tid", "thread", "span", "chain_end", "code_time", "time"
	};

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (strcmp(name, own[i]) == 0)
			return true;
	return false;
}

const char *ppi_labels_name(const portprof_profile *profile, size_t index)
{
	enum { NAMES_MAX = 64 };
	const char *names[NAMES_MAX];
	const portprof_profile_sample *sample;
	size_t count = 0;

	for (size_t i = 0;
	     (sample = portprof_profile_sample_get(profile, i)) != NULL; i++) {
		portprof_profile_label label;

		for (size_t j = 0; portprof_profile_label_get(profile, sample,
		                                              j, &label); j++) {
			size_t k = 0;

			while (k < count && strcmp(names[k], label.name) != 0)
				k++;
			if (k < count || ppi_label_is_own(label.name))
				continue;
			if (count == index)
				return label.name;
			if (count < NAMES_MAX)
				names[count++] = label.name;
		}
	}
	return NULL;
}

bool ppi_labels_check(const portprof_profile *profile, const char *name)
{
	struct ppi_labels labels;
	struct ppi_guess guess = { .wanted = labels.name };
	char likely[512];
	const char *known;
	bool is_known = false;

	ppi_labels_open(&labels, profile, name);
	for (size_t i = 0; !is_known && (known = ppi_labels_name(profile, i));
	     i++) {
		is_known = strcmp(known, labels.name) == 0;
		ppi_guess_offer(&guess, known);
	}
	if (is_known)
		return true;
	ppi_guess_words(&guess, "", likely, sizeof(likely));
	ppi_say("no sample of this profile has a label '%s'; %s%s", labels.name,
	        ppi_labels_name(profile, 0)
	        ? "the header of a report names those that there are"
	        : "there is none (record --labels, or field= of a tracepoint)",
	        likely);
	return false;
}
