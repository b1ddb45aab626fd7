/* SPDX-License-Identifier: MIT */
/* A profile folded into rows: who had how much of an event. */
#include "config.h"

#include "tools/report_rows.h"

#include <stdlib.h>
#include <string.h>

#include <uthash.h>

/* Strings are kept once each, so their addresses tell them apart. */
struct key {
	const char *function, *module;
	uint64_t address;
	uint32_t pid, tid;
};

struct entry {
	struct key key;
	struct ppi_row row;
	size_t last_sample; /* 1 + the last whose total it has */
	UT_hash_handle hh;
};

struct fold {
	const portprof_profile *profile;
	const struct ppi_symbols_name *names;
	size_t event;
	unsigned keys;
	struct entry *entries;
	struct ppi_rows *rows;
};

static const struct {
	const char *word;
	unsigned bits;
} words[] = {
	/* Functions of the same name in two modules are two functions. */
	{ "function", PPI_BY_FUNCTION | PPI_BY_MODULE },
	{ "symbol", PPI_BY_FUNCTION | PPI_BY_MODULE },
	{ "module", PPI_BY_MODULE },
	{ "dso", PPI_BY_MODULE },
	{ "address", PPI_BY_ADDRESS | PPI_BY_FUNCTION | PPI_BY_MODULE },
	{ "thread", PPI_BY_THREAD | PPI_BY_PROCESS },
	{ "tid", PPI_BY_THREAD | PPI_BY_PROCESS },
	{ "process", PPI_BY_PROCESS },
	{ "pid", PPI_BY_PROCESS },
};

unsigned ppi_rows_keys(const char *text, const char **unknown)
{
	unsigned keys = 0;

	while (*text) {
		size_t length = strcspn(text, ","), i = 0;
		size_t count = sizeof(words) / sizeof(words[0]);

		while (i < count && (strlen(words[i].word) != length ||
		                     strncmp(words[i].word, text, length) != 0))
			i++;
		if (i == count) {
			*unknown = text;
			return 0;
		}
		keys |= words[i].bits;
		text += length;
		text += *text == ',';
	}
	*unknown = text;
	return keys;
}

static void place_of(const portprof_profile *profile,
                     const portprof_profile_location *location,
                     struct ppi_symbols_place *place)
{
	const portprof_profile_mapping *mapping =
		portprof_profile_mapping_get(profile, location->mapping);

	memset(place, 0, sizeof(*place));
	place->address = location->address;
	if (!mapping)
		return;
	place->has_mapping = true;
	place->map_start = mapping->start;
	place->map_offset = mapping->file_offset;
	place->path = mapping->path;
	place->build_id = mapping->build_id;
}

struct ppi_symbols_name *ppi_name_locations(const portprof_profile *profile,
                                            struct ppi_symbols *symbols)
{
	size_t count = portprof_profile_location_count(profile);
	struct ppi_symbols_name *names = calloc(count + 1, sizeof(*names));

	for (size_t i = 0; names && i < count; i++) {
		const portprof_profile_location *location =
			portprof_profile_location_get(profile, i);
		struct ppi_symbols_place place;

		place_of(profile, location, &place);
		if (location->function[0])
			ppi_symbols_given(symbols, &place, location->function,
			                  &names[i]);
		else
			ppi_symbols_find(symbols, &place, &names[i]);
	}
	return names;
}

static const char *thread_name(const portprof_profile *profile, uint32_t pid,
                               uint32_t tid)
{
	const portprof_profile_thread *thread;

	for (size_t i = 0;
	     (thread = portprof_profile_thread_get(profile, i)) != NULL; i++)
		if (thread->pid == pid && thread->tid == tid)
			return thread->name;
	return "";
}

static void key_of(const struct fold *fold,
                   const portprof_profile_sample *sample, uint32_t location,
                   struct key *key)
{
	const struct ppi_symbols_name *name = &fold->names[location];

	memset(key, 0, sizeof(*key)); /* padding is compared too */
	if (fold->keys & PPI_BY_FUNCTION)
		key->function = name->function;
	if (fold->keys & PPI_BY_MODULE)
		key->module = name->path;
	if (fold->keys & PPI_BY_ADDRESS)
		key->address = portprof_profile_location_get(fold->profile,
		                                             location)
		                       ->address;
	if (fold->keys & PPI_BY_PROCESS)
		key->pid = sample->pid;
	if (fold->keys & PPI_BY_THREAD)
		key->tid = sample->tid;
}

static struct entry *add_entry(struct fold *fold, const struct key *key,
                               const struct ppi_symbols_name *name)
{
	struct entry *entry = calloc(1, sizeof(*entry));
	struct ppi_row *row;

	if (!entry)
		return NULL;
	entry->key = *key;
	row = &entry->row;
	row->function = key->function;
	if (fold->keys & PPI_BY_MODULE) {
		row->module = name->module;
		row->path = name->path;
	}
	row->is_named = name->is_named;
	row->address = key->address;
	row->pid = key->pid;
	row->tid = key->tid;
	row->thread = "";
	if (fold->keys & (PPI_BY_THREAD | PPI_BY_PROCESS))
		row->thread = thread_name(
			fold->profile, key->pid,
			fold->keys & PPI_BY_THREAD ? key->tid : key->pid);
	HASH_ADD(hh, fold->entries, key, sizeof(entry->key), entry);
	return entry;
}

static struct entry *entry_of(struct fold *fold,
                              const portprof_profile_sample *sample,
                              uint32_t location)
{
	struct key key;
	struct entry *entry;

	key_of(fold, sample, location, &key);
	HASH_FIND(hh, fold->entries, &key, sizeof(key), entry);
	if (!entry)
		entry = add_entry(fold, &key, &fold->names[location]);
	return entry;
}

static bool add_nameless(struct ppi_rows *rows,
                         const struct ppi_symbols_name *name, uint64_t weight)
{
	struct ppi_nameless *grown;

	if (name->is_named || !name->is_stripped)
		return true;
	for (size_t i = 0; i < rows->nameless_count; i++)
		if (rows->nameless[i].module == name->module) {
			rows->nameless[i].weight += weight;
			return true;
		}
	grown = realloc(rows->nameless,
	                (rows->nameless_count + 1) * sizeof(*grown));
	if (!grown)
		return false;
	rows->nameless = grown;
	grown[rows->nameless_count].module = name->module;
	grown[rows->nameless_count++].weight = weight;
	return true;
}

/* A row gets a sample's weight once, however often it is in its chain. */
static bool fold_sample(struct fold *fold, size_t index,
                        const portprof_profile_sample *sample)
{
	uint64_t weight = sample->weights[fold->event];
	uint64_t samples = sample->samples[fold->event];

	if (sample->depth == 0 || (weight == 0 && samples == 0))
		return true;
	for (size_t i = 0; i < sample->depth; i++) {
		struct entry *entry =
			entry_of(fold, sample, sample->locations[i]);

		if (!entry)
			return false;
		if (i == 0) {
			entry->row.self_weight += weight;
			entry->row.samples += samples;
		}
		if (entry->last_sample != index + 1)
			entry->row.total_weight += weight;
		entry->last_sample = index + 1;
	}
	fold->rows->has_chains |= sample->depth > 1;
	fold->rows->weight += weight;
	fold->rows->samples += samples;
	return add_nameless(fold->rows, &fold->names[sample->locations[0]],
	                    weight);
}

static int compare_text(const char *left, const char *right)
{
	return strcmp(left ? left : "", right ? right : "");
}

/* Equal rows stand in the same order in every run. */
static int compare_rows(const void *left, const void *right)
{
	const struct ppi_row *a = left, *b = right;
	int order;

	if (a->self_weight != b->self_weight)
		return a->self_weight > b->self_weight ? -1 : 1;
	if (a->total_weight != b->total_weight)
		return a->total_weight > b->total_weight ? -1 : 1;
	order = compare_text(a->function, b->function);
	if (order == 0)
		order = compare_text(a->path, b->path);
	if (order == 0)
		order = a->address < b->address ? -1 : a->address > b->address;
	if (order == 0)
		order = a->pid < b->pid ? -1 : a->pid > b->pid;
	if (order == 0)
		order = a->tid < b->tid ? -1 : a->tid > b->tid;
	return order;
}

static int compare_nameless(const void *left, const void *right)
{
	const struct ppi_nameless *a = left, *b = right;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return strcmp(a->module, b->module);
}

static bool sort_rows(struct fold *fold)
{
	struct ppi_rows *rows = fold->rows;
	struct entry *entry, *next;

	rows->rows = calloc(HASH_COUNT(fold->entries) + 1, sizeof(*rows->rows));
	if (!rows->rows)
		return false;
	HASH_ITER(hh, fold->entries, entry, next)
		rows->rows[rows->count++] = entry->row;
	qsort(rows->rows, rows->count, sizeof(*rows->rows), compare_rows);
	if (rows->nameless_count)
		qsort(rows->nameless, rows->nameless_count,
		      sizeof(*rows->nameless), compare_nameless);
	return true;
}

static void free_entries(struct fold *fold)
{
	struct entry *entry, *next;

	HASH_ITER(hh, fold->entries, entry, next) {
		HASH_DEL(fold->entries, entry);
		free(entry);
	}
}

bool ppi_rows_build(const portprof_profile *profile, size_t event,
                    unsigned keys, const struct ppi_symbols_name *names,
                    struct ppi_rows *rows)
{
	struct fold fold = {
		.profile = profile,
		.names = names,
		.event = event,
		.keys = keys,
		.rows = rows,
	};
	const portprof_profile_sample *sample;
	bool is_good = true;

	memset(rows, 0, sizeof(*rows));
	for (size_t i = 0;
	     is_good &&
	     (sample = portprof_profile_sample_get(profile, i)) != NULL;
	     i++)
		is_good = fold_sample(&fold, i, sample);
	is_good = is_good && sort_rows(&fold);
	free_entries(&fold);
	if (!is_good)
		ppi_rows_free(rows);
	return is_good;
}

void ppi_rows_free(struct ppi_rows *rows)
{
	free(rows->rows);
	free(rows->nameless);
	memset(rows, 0, sizeof(*rows));
}
