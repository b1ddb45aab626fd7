/* SPDX-License-Identifier: MIT */
/* Sets of labels, and the threads that are in them: <portprof/label.h>. */
#include "config.h"

#include "api/core/label.h"

#include "api/common/diag.h"
#include "backends/backend.h"
#include "base/label_store.h"
#include "base/otel_publish.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* As entering needs it, first. */
struct portprof_label_set {
	uint32_t number;
	uint32_t hash;
	const portprof_label_set *plain; /* of a push: the same labels; NULL: it
	                                  * was not pushed */
	const portprof_label_set *below; /* what a push added to */
	const void *otel;                /* its record; NULL: none */
	size_t bytes;                    /* of text: key, value, ... */
	struct portprof_label_set *next; /* of the same bucket */
	char text[];                     /* and, at an even place, the record */
};

/* Sets are found and added without a lock, since a child may be forked at any
 * time; none is ever taken away. */
enum {
	BUCKETS = 4096,
	SETS_APART = PPI_LABEL_SETS - PPI_LABEL_SETS / 8, /* with their values */
	SETS_MAX = PPI_LABEL_SETS - 16,
	PUSHED_MAX = 1 << 17
};
static _Atomic(struct portprof_label_set *) buckets[BUCKETS];
static _Atomic uint32_t set_count, pushed_count;

static const portprof_label_set others = { .number = PPI_LABELS_OTHER };

#define current ppi_label_mine.set

/* ---- text: keys and values, in the order of keys ---- */

struct text {
	size_t bytes, labels;
	char text[PPI_LABEL_SET_BYTES];
};

_Static_assert(PORTPROF_LABEL_BYTES_MAX < PPI_LABEL_SET_BYTES, "");

static size_t pair_bytes(const char *key)
{
	size_t length = strlen(key) + 1;

	return length + strlen(key + length) + 1;
}

/* Where a key stands, or would stand. */
static size_t place_of(const struct text *text, const char *key, bool *is_there)
{
	size_t at = 0;
	int order = 1;

	while (at < text->bytes &&
	       (order = strcmp(text->text + at, key)) < 0)
		at += pair_bytes(text->text + at);
	*is_there = at < text->bytes && order == 0;
	return at;
}

static void cut(struct text *text, size_t at, size_t bytes)
{
	memmove(text->text + at, text->text + at + bytes,
	        text->bytes - at - bytes);
	text->bytes -= bytes;
	text->labels--;
}

static bool put(struct text *text, const char *key, const char *value)
{
	size_t key_bytes = strlen(key) + 1, value_bytes = strlen(value) + 1;
	size_t at;
	bool is_there;

	at = place_of(text, key, &is_there);
	if (is_there)
		cut(text, at, pair_bytes(text->text + at));
	if (text->labels == PORTPROF_LABELS_MAX ||
	    key_bytes + value_bytes > PORTPROF_LABEL_BYTES_MAX ||
	    text->bytes + key_bytes + value_bytes > PORTPROF_LABEL_BYTES_MAX)
		return false;
	memmove(text->text + at + key_bytes + value_bytes, text->text + at,
	        text->bytes - at);
	memcpy(text->text + at, key, key_bytes);
	memcpy(text->text + at + key_bytes, value, value_bytes);
	text->bytes += key_bytes + value_bytes;
	text->labels++;
	return true;
}

static portprof_status take(struct text *text, const char *key,
                            const char *value)
{
	if (!key || !value || !key[0])
		return ppi_refuse(PORTPROF_E_INVALID, "make label set",
		                  "a label has a key, which is not empty, and "
		                  "a value");
	if (!put(text, key, value))
		return ppi_refuse(PORTPROF_E_INVALID, "make label set",
		                  "a set has at most %d labels and %d bytes; "
		                  "'%.60s' is too much", PORTPROF_LABELS_MAX,
		                  PORTPROF_LABEL_BYTES_MAX, key);
	return PORTPROF_OK;
}

/* ---- sets ---- */

/* FNV-1a (Fowler, Noll and Vo). */
static uint32_t hash_of(const struct text *text,
                        const portprof_label_set *below)
{
	uint32_t hash = UINT32_C(2166136261) ^ (uint32_t)((uintptr_t)below >> 4);

	for (size_t i = 0; i < text->bytes; i++)
		hash = (hash ^ (unsigned char)text->text[i]) *
		       UINT32_C(16777619);
	return hash;
}

static const portprof_label_set *
find(const struct portprof_label_set *set, uint32_t hash,
     const struct text *text, const portprof_label_set *below,
     const portprof_label_set *plain)
{
	for (; set; set = set->next)
		if (set->hash == hash && set->below == below &&
		    set->plain == plain && set->bytes == text->bytes &&
		    memcmp(set->text, text->text, text->bytes) == 0)
			return set;
	return NULL;
}

/* A set whose number is known. */
static const portprof_label_set *
add_set(const struct text *text, uint32_t hash, const portprof_label_set *below,
        const portprof_label_set *plain, uint32_t number)
{
	unsigned char record[PPI_OTEL_RECORD_MAX];
	size_t record_bytes =
		ppi_otel_record_make(text->text, text->bytes, record);
	size_t record_at = (text->bytes + 7) & ~(size_t)7;
	struct portprof_label_set *set =
		malloc(sizeof(*set) + record_at + record_bytes);
	_Atomic(struct portprof_label_set *) *bucket = &buckets[hash % BUCKETS];
	const portprof_label_set *known;
	uint32_t nobodys = PPI_CONTEXT_NOBODYS;

	if (!set)
		return NULL;
	if (record_bytes)
		atomic_compare_exchange_strong(&ppi_label_store_own()->context,
		                               &nobodys, PPI_CONTEXT_OURS);
	set->number = number;
	set->hash = hash;
	set->below = below;
	set->plain = plain;
	set->bytes = text->bytes;
	memcpy(set->text, text->text, text->bytes);
	set->otel = record_bytes ? memcpy(set->text + record_at, record,
	                                  record_bytes) : NULL;
	set->next = atomic_load(bucket);
	do {
		known = find(set->next, hash, text, below, plain);
	} while (!known && !atomic_compare_exchange_weak(bucket, &set->next,
	                                                 set));
	if (!known)
		return set;
	free(set);
	return known;
}

/* Every value of many: so many sets are not kept apart any more. */
static void forget_values(struct text *text)
{
	struct text other;

	other.bytes = other.labels = 0;
	for (size_t at = 0; at < text->bytes; at += pair_bytes(text->text + at))
		put(&other, text->text + at, PPI_LABEL_OTHER);
	*text = other;
}

/*
 * What a million requests with a name each would leave behind is bounded: the
 * later sets have their keys alone, and where there are too many of those, too,
 * nothing of their own.
 */
static const portprof_label_set *plain_set(struct text *text)
{
	uint32_t hash = hash_of(text, NULL);
	const portprof_label_set *known = find(
		atomic_load(&buckets[hash % BUCKETS]), hash, text, NULL, NULL);

	if (known)
		return known;
	if (!ppi_label_store_make())
		return NULL;
	if (atomic_load(&set_count) >= SETS_APART) {
		forget_values(text);
		hash = hash_of(text, NULL);
		known = find(atomic_load(&buckets[hash % BUCKETS]), hash, text,
		             NULL, NULL);
	}
	if (known || atomic_load(&set_count) >= SETS_MAX)
		return known ? known : &others;
	atomic_fetch_add(&set_count, 1);
	return add_set(text, hash, NULL, NULL,
	               ppi_label_store_add(text->text, text->bytes));
}

/* One that goes back to the set below. */
static const portprof_label_set *pushed_set(struct text *text,
                                            const portprof_label_set *below)
{
	const portprof_label_set *plain = plain_set(text), *known;
	uint32_t hash = hash_of(text, below);

	if (!plain)
		return NULL;
	known = find(atomic_load(&buckets[hash % BUCKETS]), hash, text, below,
	             plain);
	if (known)
		return known;
	if (atomic_fetch_add(&pushed_count, 1) < PUSHED_MAX)
		return add_set(text, hash, below, plain, plain->number);
	atomic_fetch_sub(&pushed_count, 1);
	return NULL;
}

const portprof_label_set *portprof_label_set_new(const portprof_label *labels,
                                                 size_t count)
{
	struct text text;
	const portprof_label_set *set;

	text.bytes = text.labels = 0;
	if (count && !labels) {
		ppi_refuse_null("portprof_label_set_new", "labels");
		return NULL;
	}
	for (size_t i = 0; i < count; i++)
		if (take(&text, labels[i].key, labels[i].value) != PORTPROF_OK)
			return NULL;
	set = plain_set(&text);
	if (!set)
		ppi_refuse(PORTPROF_E_NOMEM, "make label set", "out of memory");
	return set;
}

const portprof_label_set *ppi_label_plain(const portprof_label_set *set)
{
	return set && set->plain ? set->plain : set;
}

uint32_t ppi_label_number(const portprof_label_set *set)
{
	return set ? set->number : PPI_LABELS_NONE;
}

size_t ppi_label_list(const portprof_label_set *set, portprof_label *labels)
{
	size_t count = 0;

	if (set == &others)
		labels[count++] = (portprof_label){ PPI_LABEL_OTHER, PPI_LABEL_OTHER };
	for (size_t at = 0; set && at < set->bytes;
	     at += pair_bytes(set->text + at))
		labels[count++] = (portprof_label){
			set->text + at,
			set->text + at + strlen(set->text + at) + 1
		};
	return count;
}

/* ---- threads ---- */

/* Where no set was ever made there is none to leave. */
static const portprof_label_set *enter_none(void)
{
	const portprof_label_set *before = current;

	if (!before)
		return NULL;
	current = NULL;
	ppi_otel_record = NULL;
	return ppi_label_change(PPI_LABELS_NONE, before);
}

static inline const portprof_label_set *enter(const portprof_label_set *set)
{
	const portprof_label_set *before = current;

	if (!set)
		return enter_none();
	current = set;
	ppi_otel_record = set->otel;
	return ppi_label_change(set->number, before);
}

const portprof_label_set *portprof_label_enter(const portprof_label_set *set)
{
	return enter(set);
}

void portprof_label_leave(const portprof_label_set *before)
{
	enter(before);
}

const portprof_label_set *portprof_label_current(void)
{
	return current;
}

portprof_status portprof_label_push(const char *key, const char *value)
{
	const portprof_label_set *below = current, *set;
	struct text text;
	portprof_status status;

	text.bytes = text.labels = 0;
	for (size_t at = 0; below && at < below->bytes;
	     at += pair_bytes(below->text + at))
		text.labels++;
	if (below) {
		memcpy(text.text, below->text, below->bytes);
		text.bytes = below->bytes;
	}
	status = take(&text, key, value);
	if (status != PORTPROF_OK)
		return status;
	set = pushed_set(&text, below);
	if (!set)
		return ppi_refuse(PORTPROF_E_LIMIT, "push label",
		                  "there is no memory for more sets, or there "
		                  "are more than %d that were pushed; enter "
		                  "sets instead (portprof_label_enter)",
		                  PUSHED_MAX);
	enter(set);
	return PORTPROF_OK;
}

void portprof_label_pop(void)
{
	if (current && current->plain)
		enter(current->below);
}
