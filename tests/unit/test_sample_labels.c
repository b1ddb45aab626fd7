/* SPDX-License-Identifier: MIT */
/* What hardware reports of samples, as labels of a file. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/profile/sample_labels.h"

enum { ALL = PORTPROF_FIELD_DATA_ADDRESS | PORTPROF_FIELD_LATENCY |
             PORTPROF_FIELD_BRANCHES | PORTPROF_FIELD_DATA_SOURCE |
             PORTPROF_FIELD_INSTRUCTION_LATENCY |
             PORTPROF_FIELD_TRANSACTION | PORTPROF_FIELD_PHYSICAL_ADDRESS |
             PORTPROF_FIELD_PAGE_SIZES };

static struct ppi_sample_labels labels;
static struct ppi_locations locations;

static int fresh(void **state)
{
	(void)state;
	memset(&labels, 0, sizeof(labels));
	labels.fields = ALL;
	return ppi_locations_open(&locations) ? 0 : -1;
}

static int gone(void **state)
{
	(void)state;
	ppi_pool_free(&labels.sets);
	ppi_locations_close(&locations);
	return 0;
}

static uint32_t enter(const portprof_record *record)
{
	static const portprof_branch branches[] = {
		{ 1, 2, PORTPROF_BRANCH_MISPREDICTED, 100 },
		{ 3, 4, PORTPROF_BRANCH_PREDICTED, 9 },
	};
	uint64_t words[sizeof(branches) / (sizeof(uint64_t))];
	portprof_batch batch = { record, 1, words,
		                 sizeof(words) / sizeof(words[0]),
	                         sizeof(portprof_record) };

	memcpy(words, branches, sizeof(branches));
	return ppi_sample_labels_enter(&labels, 1, &batch, record);
}

static const char *string_of(int64_t number)
{
	return ppi_pool_key(&locations.strings, (uint32_t)number, NULL);
}

/* "key=text" or "key=number unit", parted by blanks. */
static const char *say(uint32_t set)
{
	static char out[1024];
	struct ppi_label_ids made[PPI_SET_LABELS_MAX];
	size_t count = ppi_sample_labels_make(&labels, set, &locations, made);
	size_t used = 0;

	assert_true(count <= PPI_SET_LABELS_MAX);
	out[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		used += (size_t)snprintf(out + used, sizeof(out) - used, "%s%s=",
		                         i ? " " : "", string_of(made[i].key));
		if (made[i].text)
			used += (size_t)snprintf(out + used, sizeof(out) - used,
			                         "%s", string_of(made[i].text));
		else
			used += (size_t)snprintf(out + used, sizeof(out) - used,
			                         "%lld/%s",
			                         (long long)made[i].number,
			                         string_of(made[i].unit));
	}
	return out;
}

static const portprof_record rich = {
	.kind = PORTPROF_RECORD_SAMPLE,
	.valid = ALL | PORTPROF_FIELD_TID | PORTPROF_FIELD_CPU,
	.samples = 1,
	.data_source = PORTPROF_DATA_LOAD | PORTPROF_DATA_L3 |
	               PORTPROF_DATA_HIT | PORTPROF_DATA_SNOOP_MODIFIED |
	               PORTPROF_DATA_TLB_WALK,
	.transaction = PORTPROF_TRANSACTION_ELISION |
	               PORTPROF_TRANSACTION_CONFLICT,
	.latency = 127, .instruction_latency = 128,
	.data_address = 0x7f0012345678, .physical_address = 0x1000,
	.data_page_bytes = 2 << 20, .code_page_bytes = 4096,
	.branches = 0, .branch_count = 2,
};

static void all_of_them(void **state)
{
	(void)state;
	assert_string_equal(say(enter(&rich)),
	                    "data_source=load,L3,hit,snoop-modified,TLB-walk "
	                    "transaction=elision,conflict latency=64/cycles "
	                    "instruction_latency=128/cycles "
	                    "data_address=0x7f0012345678 "
	                    "physical_address=0x1000 data_page=2097152/bytes "
	                    "code_page=4096/bytes branch=mispredicted "
	                    "branch_cycles=64/cycles");
}

static void those_that_were_asked_for(void **state)
{
	portprof_record record = rich;

	(void)state;
	labels.fields = PORTPROF_FIELD_LATENCY | PORTPROF_FIELD_DATA_SOURCE;
	record.valid &= ~(uint32_t)PORTPROF_FIELD_DATA_SOURCE;
	assert_string_equal(say(enter(&record)), "latency=64/cycles");
	record.valid = 0;
	assert_int_equal(enter(&record), 0);
	labels.fields = 0;
	assert_int_equal(enter(&rich), 0);
	assert_string_equal(say(0), "");
	assert_int_equal(labels.left_out, 0);
}

/* Behind what hardware told; a number of 0 is a text, and what files call so
 * already has another name. */
static void what_the_event_tells(void **state)
{
	static const struct ppi_event events[2] = {
		[1] = { .fields = "prev_comm next_pid pid state" }
	};
	static const struct {
		portprof_event_field head;
		uint64_t text;
	} first = { { 0, 3, 0 }, 0 };
	portprof_event_field rest[] = { { 1, 0, 0 }, { 2, 0, 77 },
		                        { 3, 0, -5 } };
	uint64_t words[32];
	portprof_record record = {
		.kind = PORTPROF_RECORD_SAMPLE, .event = 1, .samples = 1,
		.valid = PORTPROF_FIELD_EVENT_FIELDS,
		.event_fields = 2,
		.event_field_words = (sizeof(first) + sizeof(rest)) / 8,
	};
	portprof_batch batch = { &record, 1, words, 32,
	                         sizeof(portprof_record) };
	uint32_t set;

	(void)state;
	memcpy(words + 2, &first, sizeof(first));
	memcpy((char *)(words + 2) + sizeof(first.head), "sh", 3);
	memcpy((char *)(words + 2) + sizeof(first), rest, sizeof(rest));
	assert_int_equal(ppi_sample_labels_enter(&labels, 1, &batch, &record), 0);
	labels.events = events;
	set = ppi_sample_labels_enter(&labels, 1, &batch, &record);
	assert_string_equal(say(set), "prev_comm=sh next_pid=0 event_pid=77/ "
	                              "state=-5/");
	/* another number is another set, the same the same */
	assert_int_equal(ppi_sample_labels_enter(&labels, 1, &batch, &record), set);
	words[record.event_fields + record.event_field_words - 1]++;
	assert_int_not_equal(ppi_sample_labels_enter(&labels, 1, &batch, &record),
	                     set);
	record.event_field_words = 31;
	assert_int_equal(ppi_sample_labels_enter(&labels, 1, &batch, &record), 0);
}

/* What is not known is no label, and never a 0. */
static void what_is_not_known_is_no_label(void **state)
{
	portprof_record record = { .kind = PORTPROF_RECORD_SAMPLE,
		                   .valid = ALL, .samples = 1 };

	(void)state;
	record.code_page_bytes = 4096;
	record.data_address = 0x10;
	record.physical_address = 0x20;
	assert_string_equal(say(enter(&record)),
	                    "data_address=0x10 physical_address=0x20 "
	                    "code_page=4096/bytes");
}

static void samples_that_are_alike_have_one_set(void **state)
{
	portprof_record record = rich;
	uint32_t first = enter(&rich);

	(void)state;
	record.latency = 64; /* of the same power of two */
	record.tid = 7;
	assert_int_equal(enter(&record), first);
	record.latency = 63;
	assert_int_not_equal(enter(&record), first);
}

static void there_are_so_many_and_no_more(void **state)
{
	portprof_record record = rich;
	char note[200];

	(void)state;
	record.samples = 3;
	for (uint64_t i = 0; i < PPI_LABEL_SETS_MAX; i++) {
		record.data_address = i + 1;
		assert_int_equal(enter(&record), i + 1);
	}
	assert_false(ppi_sample_labels_note(&labels, note, sizeof(note)));
	record.data_address++;
	assert_int_equal(enter(&record), 0);
	record.data_address++;
	assert_int_equal(enter(&record), 0);
	/* those that are there go on */
	record.data_address = 5;
	assert_int_equal(enter(&record), 5);
	assert_int_equal(labels.left_out, 6);
	assert_true(ppi_sample_labels_note(&labels, note, sizeof(note)));
	assert_non_null(strstr(note, "6 samples"));
	assert_non_null(strstr(note, "4096"));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fresh, gone)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(all_of_them),
		CASE(those_that_were_asked_for),
		CASE(what_the_event_tells),
		CASE(what_is_not_known_is_no_label),
		CASE(samples_that_are_alike_have_one_set),
		CASE(there_are_so_many_and_no_more),
	};

	return cmocka_run_group_tests_name("sample_labels", tests, NULL, NULL);
}
