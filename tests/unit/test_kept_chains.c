/* SPDX-License-Identifier: MIT */
/* The place where a thread waits for a CPU is that of its last sample, unless it has
 * changed sets of labels since. */
#include "api/unwind/kept_chains.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { PID = 7, TID = 8, ALPHA = 2, GAMMA = 4 };

static portprof_record record_in(uint32_t valid, uint32_t set)
{
	return (portprof_record){
		.kind = PORTPROF_RECORD_SAMPLE, .pid = PID, .tid = TID,
		.valid = valid | PORTPROF_FIELD_PID | PORTPROF_FIELD_TID |
		         (set ? (uint32_t)PORTPROF_FIELD_LABELS : 0),
		.label_set = set,
	};
}

/* Whether ready time of one set has the place of a sample of another. */
static bool has_place(bool has_sets, uint32_t sampled, uint32_t ready)
{
	struct ppi_kept_chains chains = { .has_sets = has_sets };
	uint64_t words[4] = { 0x1000, 0x2000, 0, 0 };
	portprof_record records[2] = {
		record_in(PORTPROF_FIELD_CHAIN | PPI_FIELD_KEEP | PPI_FIELD_RAN,
		          sampled),
		record_in(PORTPROF_FIELD_NOT_SEEN | PPI_FIELD_AGAIN |
		          PPI_FIELD_RAN | PPI_FIELD_LABELLED, ready),
	};
	struct ppi_room room = { .records = records, .record_count = 2,
		                 .words = words, .word_count = 4,
		                 .record_room = 2, .word_room = 4 };

	records[0].address = 0x1000;
	records[0].payload_words = 2;
	records[1].payload = 2;
	records[1].payload_words = 2;
	ppi_kept_chains_take(&chains, &room);
	ppi_kept_chains_free(&chains);
	if (records[1].valid & PORTPROF_FIELD_NOT_SEEN)
		return records[1].address != 0 || records[1].payload_words != 0;
	assert_int_equal(records[1].address, 0x1000);
	assert_int_equal(records[1].payload_words, 2);
	assert_int_equal(words[3], 0x2000);
	return true;
}

static void a_place_is_of_the_same_set(void **state)
{
	(void)state;
	assert_true(has_place(true, GAMMA, GAMMA));
	assert_true(has_place(true, 0, 0));
	assert_false(has_place(true, 0, GAMMA));
	assert_false(has_place(true, ALPHA, GAMMA));
	assert_false(has_place(true, ALPHA, 0));
}

static void what_is_not_known_takes_no_place_away(void **state)
{
	(void)state;
	assert_true(has_place(true, ALPHA, (uint32_t)PORTPROF_LABEL_SET_UNKNOWN));
	/* samples whose sets are found later */
	assert_true(has_place(false, 0, GAMMA));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_place_is_of_the_same_set),
		cmocka_unit_test(what_is_not_known_takes_no_place_away),
	};

	return cmocka_run_group_tests_name("kept_chains", tests, NULL, NULL);
}
