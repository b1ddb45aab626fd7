/* SPDX-License-Identifier: MIT */
/* Samples of one portion, added up by call chain, process, thread, labels. */
#include "api/profile/sample_table.h"

#include <portprof/record.h>

#include "api/profile/locations.h"
#include "api/profile/memory.h"
#include "backends/backend.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---- labels ---- */

/*
 * What the hardware or the event itself reports of samples, as labels of a file.
 * Samples are added up by their labels, so a value with too many forms is made
 * coarse (cycles) or bounded (all of it): when there are enough sets of labels, a
 * new one is left out and counted.
 */

enum {
	HAS, /* of PORTPROF_FIELD_ */
	DATA_SOURCE, TRANSACTION, LATENCY, INSTRUCTION_LATENCY, DATA_ADDRESS,
	PHYSICAL_ADDRESS, DATA_PAGE, CODE_PAGE, BRANCH, BRANCH_CYCLES,
	OWN, /* the program's */
	WORDS,
	EVENT_WORDS = 128 /* of the event's own fields, at most */
};

struct word_of_bit {
	uint64_t bit;
	const char *word;
};

static const struct word_of_bit sources[] = {
	{ PORTPROF_DATA_LOAD, "load" },
	{ PORTPROF_DATA_STORE, "store" },
	{ PORTPROF_DATA_PREFETCH, "prefetch" },
	{ PORTPROF_DATA_EXECUTE, "execute" },
	{ PORTPROF_DATA_LOCKED, "locked" },
	{ PORTPROF_DATA_REMOTE, "remote" },
	{ PORTPROF_DATA_L1, "L1" },
	{ PORTPROF_DATA_FILL_BUFFER, "fill-buffer" },
	{ PORTPROF_DATA_L2, "L2" },
	{ PORTPROF_DATA_L3, "L3" },
	{ PORTPROF_DATA_L4, "L4" },
	{ PORTPROF_DATA_CACHE, "cache" },
	{ PORTPROF_DATA_MEMORY, "memory" },
	{ PORTPROF_DATA_PERSISTENT, "persistent" },
	{ PORTPROF_DATA_IO, "io" },
	{ PORTPROF_DATA_UNCACHED, "uncached" },
	{ PORTPROF_DATA_HIT, "hit" },
	{ PORTPROF_DATA_MISS, "miss" },
	{ PORTPROF_DATA_SNOOP_NONE, "snoop-none" },
	{ PORTPROF_DATA_SNOOP_HIT, "snoop-hit" },
	{ PORTPROF_DATA_SNOOP_MISS, "snoop-miss" },
	{ PORTPROF_DATA_SNOOP_MODIFIED, "snoop-modified" },
	{ PORTPROF_DATA_SNOOP_FORWARD, "snoop-forward" },
	{ PORTPROF_DATA_SNOOP_PEER, "snoop-peer" },
	{ PORTPROF_DATA_TLB_HIT, "TLB-hit" },
	{ PORTPROF_DATA_TLB_MISS, "TLB-miss" },
	{ PORTPROF_DATA_TLB_L1, "TLB-L1" },
	{ PORTPROF_DATA_TLB_L2, "TLB-L2" },
	{ PORTPROF_DATA_TLB_WALK, "TLB-walk" },
	{ PORTPROF_DATA_TLB_FAULT, "TLB-fault" },
	{ PORTPROF_DATA_BLOCKED, "blocked" },
	{ 0, NULL },
};

static const struct word_of_bit transactions[] = {
	{ PORTPROF_TRANSACTION_ELISION, "elision" },
	{ PORTPROF_TRANSACTION_EXPLICIT, "explicit" },
	{ PORTPROF_TRANSACTION_SYNCHRONOUS, "synchronous" },
	{ PORTPROF_TRANSACTION_ASYNCHRONOUS, "asynchronous" },
	{ PORTPROF_TRANSACTION_RETRY, "retry" },
	{ PORTPROF_TRANSACTION_CONFLICT, "conflict" },
	{ PORTPROF_TRANSACTION_CAPACITY, "capacity" },
	{ 0, NULL },
};

static const struct word_of_bit branch_flags[] = {
	{ PORTPROF_BRANCH_MISPREDICTED, "mispredicted" },
	{ PORTPROF_BRANCH_PREDICTED, "predicted" },
	{ PORTPROF_BRANCH_IN_TRANSACTION, "in-transaction" },
	{ PORTPROF_BRANCH_ABORT, "abort" },
	{ 0, NULL },
};

/* How a word of a set is written. */
static const struct {
	const char *key, *unit;
	const struct word_of_bit *words; /* text; */
	bool is_address;                 /* text, in hexadecimal; else a number */
	uint32_t field;
} kinds[WORDS] = {
	[DATA_SOURCE] = { "data_source", NULL, sources, false,
	                  PORTPROF_FIELD_DATA_SOURCE },
	[TRANSACTION] = { "transaction", NULL, transactions, false,
	                  PORTPROF_FIELD_TRANSACTION },
	[LATENCY] = { "latency", "cycles", NULL, false,
	              PORTPROF_FIELD_LATENCY },
	[INSTRUCTION_LATENCY] = { "instruction_latency", "cycles", NULL, false,
	                          PORTPROF_FIELD_INSTRUCTION_LATENCY },
	[DATA_ADDRESS] = { "data_address", NULL, NULL, true,
	                   PORTPROF_FIELD_DATA_ADDRESS },
	[PHYSICAL_ADDRESS] = { "physical_address", NULL, NULL, true,
	                       PORTPROF_FIELD_PHYSICAL_ADDRESS },
	[DATA_PAGE] = { "data_page", "bytes", NULL, false,
	                PORTPROF_FIELD_PAGE_SIZES },
	[CODE_PAGE] = { "code_page", "bytes", NULL, false,
	                PORTPROF_FIELD_PAGE_SIZES },
	[BRANCH] = { "branch", NULL, branch_flags, false,
	             PORTPROF_FIELD_BRANCHES },
	[BRANCH_CYCLES] = { "branch_cycles", "cycles", NULL, false,
	                    PORTPROF_FIELD_BRANCHES },
};

/* 64 is 64 to 127. */
static uint64_t coarse(uint64_t cycles)
{
	uint64_t power = cycles > 0;

	while (cycles >>= 1)
		power <<= 1;
	return power;
}

/* The last branch that was taken. */
static void take_branch(const portprof_batch *batch,
                        const portprof_record *record, uint64_t *set)
{
	size_t count;
	const portprof_branch *branches =
		portprof_batch_branches(batch, record, &count);

	if (!count) {
		set[HAS] &= ~(uint64_t)PORTPROF_FIELD_BRANCHES;
		return;
	}
	set[BRANCH] = branches[0].flags;
	set[BRANCH_CYCLES] = coarse(branches[0].cycles);
}

/* Event and words of what it tells itself, behind the set; how many. */
static size_t take_event_fields(const struct ppi_sample_labels *labels,
                                const portprof_batch *batch,
                                const portprof_record *record, uint64_t *out)
{
	size_t count = (size_t)record->event_field_words;

	if (!labels->events || !(record->valid & PORTPROF_FIELD_EVENT_FIELDS) ||
	    count > EVENT_WORDS || record->event_fields > batch->word_count ||
	    count > batch->word_count - record->event_fields)
		return 0;
	out[0] = record->event;
	memcpy(out + 1, batch->words + record->event_fields, count * 8);
	return 1 + count;
}

/* Its own labels are bounded by themselves, and kept where others are not. */
static uint32_t number_of(struct ppi_sample_labels *labels, uint64_t *set,
                          size_t words, uint64_t samples)
{
	uint64_t own_alone[WORDS] = { [OWN] = set[OWN] };
	uint32_t number;

	if (ppi_pool_count(&labels->sets) < PPI_LABEL_SETS_MAX)
		number = ppi_pool_enter(&labels->sets, set,
		                        words * sizeof(*set));
	else
		number = ppi_pool_find(&labels->sets, set,
		                       words * sizeof(*set));
	if (number != PPI_NONE)
		return number + 1;
	if (set[HAS] || words > WORDS)
		labels->left_out += samples;
	if (set[OWN])
		number = ppi_pool_enter(&labels->sets, own_alone,
		                        sizeof(own_alone));
	return number == PPI_NONE ? 0 : number + 1;
}

uint32_t ppi_sample_labels_enter(struct ppi_sample_labels *labels,
                                 uint32_t pid, const portprof_batch *batch,
                                 const portprof_record *record)
{
	uint64_t set[WORDS + 1 + EVENT_WORDS] = {
		[HAS] = labels->fields & record->valid,
		[OWN] = ppi_label_texts_of(&labels->texts, pid, record),
	};
	size_t more = take_event_fields(labels, batch, record, set + WORDS);
	const uint64_t all[WORDS] = {
		[DATA_SOURCE] = record->data_source,
		[TRANSACTION] = record->transaction,
		[LATENCY] = coarse(record->latency),
		[INSTRUCTION_LATENCY] = coarse(record->instruction_latency),
		[DATA_ADDRESS] = record->data_address,
		[PHYSICAL_ADDRESS] = record->physical_address,
		[DATA_PAGE] = record->data_page_bytes,
		[CODE_PAGE] = record->code_page_bytes,
	};

	if (!set[HAS] && !more && !set[OWN])
		return 0;
	if (set[HAS] & PORTPROF_FIELD_BRANCHES)
		take_branch(batch, record, set);
	for (size_t i = HAS + 1; i < BRANCH; i++)
		if (set[HAS] & kinds[i].field)
			set[i] = all[i];
	if (!set[HAS] && !more && !set[OWN])
		return 0;
	return number_of(labels, set, WORDS + more, record->samples);
}

/* "load,L1,hit", "" where nothing is known. */
static void put_words(uint64_t bits, const struct word_of_bit *words, char *out,
                      size_t bytes)
{
	size_t used = 0;

	out[0] = '\0';
	for (; words->word; words++) {
		int length;

		if (!(bits & words->bit))
			continue;
		length = snprintf(out + used, bytes - used, "%s%s",
		                  used ? "," : "", words->word);
		if (length < 0 || (size_t)length >= bytes - used)
			return;
		used += (size_t)length;
	}
}

static bool make_label(size_t kind, uint64_t value,
                       struct ppi_locations *locations,
                       struct ppi_label_ids *label)
{
	char text[400] = "";
	uint32_t key, str = 0, unit = 0;

	if (kinds[kind].words)
		put_words(value, kinds[kind].words, text, sizeof(text));
	else if (kinds[kind].is_address)
		snprintf(text, sizeof(text), "0x%" PRIx64, value);
	/* pprof takes a number of 0 without a text for no label */
	if (!text[0] && (kinds[kind].words || value == 0))
		return false;
	key = ppi_locations_string(locations, kinds[kind].key);
	if (text[0])
		str = ppi_locations_string(locations, text);
	if (kinds[kind].unit)
		unit = ppi_locations_string(locations, kinds[kind].unit);
	if (key == PPI_NONE || str == PPI_NONE || unit == PPI_NONE)
		return false;
	*label = (struct ppi_label_ids){ key, str, unit,
		                     text[0] ? 0 : (int64_t)value };
	return true;
}

/* What other labels of files are called (api/profile/portion.c). */
static bool is_taken(const char *name)
{
	static const char *const taken[] = {
		"pid", "tid", "thread", "span", "chain_end", "code_time", "time"
	};

	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		if (strcmp(name, taken[i]) == 0)
			return true;
	for (size_t i = HAS + 1; i < OWN; i++)
		if (strcmp(name, kinds[i].key) == 0)
			return true;
	return false;
}

/* The nth word of a list with blanks between. */
static size_t nth_name(const char *list, uint32_t n, char *out, size_t bytes)
{
	for (; n && *list; n--) {
		list += strcspn(list, " ");
		list += *list == ' ';
	}
	return (size_t)snprintf(out, bytes, "%.*s", (int)strcspn(list, " "),
	                        list);
}

static bool make_event_label(const portprof_event_field *field,
                             const char *names, struct ppi_locations *locations,
                             struct ppi_label_ids *label)
{
	const char *text = (const char *)(field + 1);
	char name[176] = "event_";
	size_t prefix = strlen(name);

	if (!nth_name(names, field->index, name + prefix,
	              sizeof(name) - prefix))
		return false;
	*label = (struct ppi_label_ids){
		.key = ppi_locations_string(
			locations,
			is_taken(name + prefix) ? name : name + prefix)};
	/* pprof takes a number of 0 without a text for no label */
	if (field->text_bytes > 1)
		label->text = ppi_locations_string(locations, text);
	else if (field->text_bytes == 0 && field->number == 0)
		label->text = ppi_locations_string(locations, "0");
	else if (field->text_bytes == 0)
		label->number = field->number;
	else
		return false;
	return label->key != PPI_NONE && label->text != PPI_NONE;
}

/* Those of the event itself, behind the set's words. */
static size_t make_event_labels(const struct ppi_sample_labels *labels,
                                const uint64_t *words, size_t count,
                                struct ppi_locations *locations,
                                struct ppi_label_ids *out)
{
	const portprof_batch batch = { .words = words + 1,
		                       .word_count = count - 1 };
	const portprof_record record = {
		.valid = PORTPROF_FIELD_EVENT_FIELDS,
		.event_field_words = count - 1,
	};
	const portprof_event_field *field = NULL;
	size_t made = 0;

	while ((field = portprof_batch_event_field(&batch, &record, field)))
		made += make_event_label(field, labels->events[words[0]].fields,
		                         locations, &out[made]);
	return made;
}

size_t ppi_sample_labels_make(const struct ppi_sample_labels *labels,
                              uint32_t set, struct ppi_locations *locations,
                              struct ppi_label_ids *out)
{
	const uint64_t *words;
	size_t count = 0, bytes;

	if (set == 0)
		return 0;
	words = ppi_pool_key(&labels->sets, set - 1, &bytes);
	for (size_t i = HAS + 1; i < OWN; i++)
		if (words[HAS] & kinds[i].field)
			count +=
				make_label(i, words[i], locations, &out[count]);
	count += ppi_label_texts_make(&labels->texts, (uint32_t)words[OWN],
	                              is_taken, locations, &out[count]);
	if (bytes > WORDS * sizeof(*words))
		count += make_event_labels(labels, words + WORDS,
		                           bytes / sizeof(*words) - WORDS,
		                           locations, &out[count]);
	return count;
}

bool ppi_sample_labels_note(const struct ppi_sample_labels *labels, char *out,
                            size_t bytes)
{
	if (labels->left_out == 0)
		return false;
	snprintf(out, bytes, "%" PRIu64 " samples are without their labels: a "
	         "file has %d different sets; keep fewer labels", labels->left_out,
	         PPI_LABEL_SETS_MAX);
	return true;
}

/* ---- the table ---- */

/*
 * A key is an array of words: the layout of the address space and what kind
 * of sample it is; process and thread; when, if that is kept, and how the chain
 * ends; when exactly, where code comes and goes; its labels and its thread's name;
 * then the addresses as they came. The layout's number makes the same address
 * another key once something else is mapped there, so locations are looked up once
 * a key.
 */
enum {
	WORD_LAYOUT,
	WORD_THREAD,
	WORD_TIME,
	WORD_CODE_TIME,
	WORD_LABELS,
	WORD_CHAIN
};

/* Bounds of the memory of one portion. */
enum { LINES_MAX = 1 << 15, BYTES_MAX = 8 << 20 };

void ppi_sample_table_open(struct ppi_sample_table *table,
                           struct ppi_spaces *spaces, size_t event_count)
{
	memset(table, 0, sizeof(*table));
	table->spaces = spaces;
	ppi_returns_open(&table->returns, spaces->locations);
	table->event_count = event_count;
}

void ppi_sample_table_close(struct ppi_sample_table *table)
{
	ppi_returns_close(&table->returns);
	ppi_pool_free(&table->keys);
	ppi_vector_free(&table->lines);
	ppi_vector_free(&table->chains);
	ppi_vector_free(&table->values);
	ppi_vector_free(&table->scratch);
}

/* pprof has signed 64-bit values: stop at the largest. */
static void add_value(int64_t *value, uint64_t more)
{
	uint64_t sum = (uint64_t)*value + more;

	*value = sum < more || sum > INT64_MAX ? INT64_MAX : (int64_t)sum;
}

static uint32_t span_of(const portprof_record *record)
{
	if (record->span <= 1)
		return 0;
	return record->span > INT32_MAX ? INT32_MAX : (uint32_t)record->span;
}

/* How long the slice is that a sample falls in. */
static uint64_t slice_of(struct ppi_sample_table *table, uint64_t time_ns)
{
	uint64_t slice_ns = table->slice_ns;

	if (!table->slices_grow)
		return slice_ns;
	if (!table->first_ns)
		table->first_ns = time_ns;
	while (time_ns > table->first_ns &&
	       (time_ns - table->first_ns) / PPI_TIMELINE_SLICES >= slice_ns)
		slice_ns *= 10;
	return slice_ns;
}

/* When the slice began that the sample fell in. */
static uint64_t time_ms_of(struct ppi_sample_table *table,
                           const portprof_record *record)
{
	uint64_t time_ns = table->realtime_ns + record->time_ns, slice_ns;

	if (!table->slice_ns || !(record->valid & PORTPROF_FIELD_TIME))
		return 0;
	slice_ns = slice_of(table, time_ns);
	time_ns = time_ns / slice_ns * slice_ns;
	if (slice_ns > table->slice_ns)
		time_ns += (slice_ns - table->slice_ns) / 2;
	return time_ns / 1000000u;
}

static uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* When the sample fell, of a process that says when it made which code, where
 * the chain has such code; else 0. */
static uint64_t code_time_of(const struct ppi_sample_table *table,
                             const portprof_record *record, uint32_t pid,
                             const struct ppi_layout *layout,
                             const uint64_t *chain, size_t depth)
{
	if (ppi_ids_find(&table->spaces->dumping, pid) == PPI_NONE)
		return 0;
	for (size_t i = 0; i < depth; i++)
		if (ppi_spaces_may_change(table->spaces, layout, chain[i]))
			return record->valid & PORTPROF_FIELD_TIME
			               ? record->time_ns
			               : monotonic_ns();
	return 0;
}

static uint64_t chain_end_of(const portprof_record *record)
{
	return record->valid & PORTPROF_FIELD_CHAIN ? record->chain_end
	                                            : PORTPROF_CHAIN_UNKNOWN;
}

/*
 * The location of frame `i` of a line. A caller's address is that of the
 * instruction after its call: one less lies in the call, which is what pprof
 * expects and what its line is looked up by.
 */
static uint64_t locate(struct ppi_sample_table *table,
                       const struct ppi_layout *layout,
                       const struct ppi_sample_line *line,
                       const uint64_t *chain, size_t i, uint64_t *address)
{
	/* where kernel addresses have no sign, only the leaf is sure */
	bool is_kernel = line->is_kernel && i == 0;

	if ((line->is_guest || line->is_unseen) && i == 0) {
		*address = 0;
		return ppi_locations_nowhere(
			table->spaces->locations,
			line->is_guest ? PPI_GUEST_PATH : PPI_UNSEEN_PATH);
	}
	*address = chain[i] - (i > 0 && chain[i] > 0);
	return ppi_spaces_locate(table->spaces, layout, *address, is_kernel);
}

/*
 * Whether the address may belong to the user's part of a chain and is no leaf.
 * Where kernel addresses have no sign (s390), a sample of the kernel may have
 * its callers among them.
 */
static bool is_caller(const struct ppi_sample_line *line, const uint64_t *chain,
                      size_t i)
{
	return i > 0 && !(chain[i] >> 63) &&
	       (!line->is_kernel || chain[0] >> 63);
}

/* What the unwinder followed was looked at by it: a place where a signal
 * interrupted follows no call. */
static bool is_unwound(const struct ppi_sample_line *line)
{
	return line->chain_end != PORTPROF_CHAIN_UNKNOWN;
}

static bool add_line(struct ppi_sample_table *table,
                     const portprof_record *record,
                     const struct ppi_layout *layout, uint32_t pid,
                     uint64_t code_time_ns, uint32_t labels, uint32_t name,
                     const uint64_t *chain, size_t depth)
{
	struct ppi_sample_line line = {
		.labels = labels,
		.name = name,
		.chain = table->chains.count,
		.depth = (uint32_t)depth,
		.pid = pid,
		.tid = record->valid & PORTPROF_FIELD_TID ? record->tid : 0,
		.span = span_of(record),
		.time_ms = time_ms_of(table, record),
		.code_time_ns = code_time_ns,
		.chain_end = (uint8_t)chain_end_of(record),
		.is_kernel = record->valid & PORTPROF_FIELD_KERNEL,
		.is_guest = record->valid & PORTPROF_FIELD_GUEST,
		.is_unseen = record->valid & PORTPROF_FIELD_NOT_SEEN,
		.has_code = layout && layout->extents.count > 0,
		.is_whole = true,
	};
	uint64_t address, *locations;

	if (!ppi_vector_reserve(&table->chains, sizeof(*locations), depth) ||
	    !ppi_vector_reserve(&table->lines, sizeof(line), 1) ||
	    !ppi_vector_add(&table->values, sizeof(int64_t), NULL,
	                    2 * table->event_count))
		return false;
	locations = PPI_AT(&table->chains, uint64_t) + line.chain;
	for (size_t i = 0; i < line.depth; i++) {
		locations[i] = locate(table, layout, &line, chain, i, &address);
		line.is_whole &= locations[i] != 0;
		if (!locations[i] || !is_caller(&line, chain, i))
			continue;
		if (!is_unwound(&line) &&
		    !ppi_returns_can_be(&table->returns, locations[i]))
			line.depth = (uint32_t)i;
		else
			locations[i] = ppi_returns_exact(&table->returns,
			                                 locations[i]);
		if (!locations[i])
			return false;
	}
	table->chains.count += line.depth;
	table->has_cut_chains |= line.chain_end > PORTPROF_CHAIN_WHOLE;
	table->has_code_times |= code_time_ns != 0;
	return ppi_vector_add(&table->lines, sizeof(line), &line, 1);
}

bool ppi_sample_table_add(struct ppi_sample_table *table,
                          const portprof_record *record, uint32_t pid,
                          const uint64_t *chain, size_t depth, uint32_t labels,
                          uint32_t name)
{
	const struct ppi_layout *layout =
		ppi_process_map_find(&table->spaces->processes, pid);
	uint32_t tid = record->valid & PORTPROF_FIELD_TID ? record->tid : 0;
	bool is_kernel = record->valid & PORTPROF_FIELD_KERNEL;
	uint64_t *key;
	int64_t *values;
	uint32_t number;

	if (depth == 0) {
		chain = &record->address;
		depth = 1;
	}
	if (!ppi_vector_reserve(&table->scratch, sizeof(*key),
	                        WORD_CHAIN + depth))
		return false;
	key = table->scratch.data;
	key[WORD_LAYOUT] = (uint64_t)(layout ? layout->number : 0) << 32 |
	                   (uint64_t)span_of(record) << 1 | is_kernel;
	if (record->valid & PORTPROF_FIELD_GUEST)
		key[WORD_LAYOUT] = UINT64_MAX; /* no layout has that number */
	if (record->valid & PORTPROF_FIELD_NOT_SEEN)
		key[WORD_LAYOUT] = UINT64_MAX - 1; /* nor that one */
	key[WORD_THREAD] = (uint64_t)pid << 32 | tid;
	key[WORD_TIME] = time_ms_of(table, record) ^ chain_end_of(record) << 56;
	key[WORD_CODE_TIME] =
		code_time_of(table, record, pid, layout, chain, depth);
	key[WORD_LABELS] = (uint64_t)name << 32 | labels;
	memcpy(key + WORD_CHAIN, chain, depth * sizeof(*chain));
	number = ppi_pool_enter(&table->keys, key,
	                        (WORD_CHAIN + depth) * sizeof(*key));
	if (number == PPI_NONE)
		return false;
	if (number == table->lines.count &&
	    !add_line(table, record, layout, pid, key[WORD_CODE_TIME], labels,
	              name, chain, depth)) {
		ppi_pool_drop_last(&table->keys);
		table->values.count = number * 2 * table->event_count;
		return false;
	}
	values = PPI_AT(&table->values, int64_t) +
	         (size_t)number * 2 * table->event_count;
	add_value(&values[ppi_samples_value(record->event)], record->samples);
	add_value(&values[ppi_weight_value(record->event, table->event_count)],
	          record->weight);
	table->samples += record->samples;
	table->weight += record->weight;
	return true;
}

bool ppi_sample_table_is_full(const struct ppi_sample_table *table)
{
	return table->lines.count >= LINES_MAX ||
	       table->keys.arena.total +
	                       table->chains.count * sizeof(uint64_t) >=
	               BYTES_MAX;
}

static bool finish_line(struct ppi_sample_table *table, size_t number)
{
	struct ppi_sample_line *line =
		&PPI_AT(&table->lines, struct ppi_sample_line)[number];
	const struct ppi_layout *layout =
		ppi_process_map_find(&table->spaces->processes, line->pid);
	const uint64_t *key =
		ppi_pool_key(&table->keys, (uint32_t)number, NULL);
	uint64_t *locations = PPI_AT(&table->chains, uint64_t) + line->chain;

	for (size_t i = 0; i < line->depth; i++) {
		const uint64_t *chain = key + WORD_CHAIN;
		uint64_t address;

		if (locations[i])
			continue;
		locations[i] = locate(table, layout, line, chain, i, &address);
		if (is_caller(line, chain, i) && !is_unwound(line) &&
		    (locations[i] ? !ppi_returns_can_be(&table->returns,
		                                        locations[i])
		                  : line->has_code)) {
			line->depth = (uint32_t)i;
			break;
		}
		if (!locations[i])
			locations[i] = ppi_locations_add(
				table->spaces->locations, PPI_NONE, address);
		else if (is_caller(line, chain, i))
			locations[i] = ppi_returns_exact(&table->returns,
			                                 locations[i]);
		if (!locations[i])
			return false;
	}
	line->is_whole = true;
	return true;
}

bool ppi_sample_table_finish(struct ppi_sample_table *table)
{
	for (size_t i = 0; i < table->lines.count; i++)
		if (!PPI_AT(&table->lines, struct ppi_sample_line)[i]
		             .is_whole &&
		    !finish_line(table, i))
			return false;
	return true;
}

void ppi_sample_table_clear(struct ppi_sample_table *table)
{
	ppi_pool_clear(&table->keys);
	table->lines.count = 0;
	table->chains.count = 0;
	table->values.count = 0;
	table->samples = 0;
	table->weight = 0;
}
