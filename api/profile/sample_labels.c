/* SPDX-License-Identifier: MIT */
/*
 * What the hardware or the event itself reports of samples, as labels of a file.
 * Samples are added up by their labels, so a value with too many forms is made
 * coarse (cycles) or bounded (all of it): when there are enough sets of labels, a
 * new one is left out and counted.
 */
#include "api/profile/sample_labels.h"

#include "backends/backend.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

/* What other labels of files are called (api/profile/pprof/portion.c). */
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
