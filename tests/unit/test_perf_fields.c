/* SPDX-License-Identifier: MIT */
/* What hardware reports with a sample: data addresses, latencies, branches. */
#include "tests/unit/perf_run.h"

#include <portprof.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

enum { ALL = PORTPROF_FIELD_DATA_ADDRESS | PORTPROF_FIELD_LATENCY |
             PORTPROF_FIELD_BRANCHES };

static struct perf_run run;

static int fresh(void **state)
{
	(void)state;
	perf_sim_reset();
	perf_sim_machine.counters = 4;
	run_init(&run, PPI_SAMPLE);
	return 0;
}

static int nothing_is_held(void **state)
{
	(void)state;
	if (run.bs.state)
		run_close(&run);
	assert_int_equal(perf_sim_open_fds(), 0);
	assert_int_equal(perf_sim_mapped(), 0);
	assert_int_equal(perf_sim_abuses(), 0);
	return 0;
}

static size_t sample(const char *event, uint32_t fields, unsigned depth)
{
	size_t samples = 0;

	run.plan.sample_fields = fields;
	run.plan.chain_depth = depth;
	assert_int_equal(run_add(&run, event, 1000), PORTPROF_OK);
	if (run_open(&run) != PORTPROF_OK)
		fail_msg("%s", run.why.words);
	run_start(&run);
	run_work(perf_sim_main_tid(), 0x1000, 50 * MS, 0);
	run_stop(&run);
	for (size_t i = 0; i < run.record_count; i++)
		samples += run.records[i].kind == PORTPROF_RECORD_SAMPLE;
	assert_true(samples >= 40);
	return samples;
}

static void check_branches(const portprof_record *record)
{
	portprof_batch batch = { run.records, run.record_count, run.words,
		                 run.word_count, sizeof(portprof_record) };
	portprof_record moved = *record;
	const portprof_branch *branches;
	size_t count;

	/* past the end is none, not a crash */
	moved.branches = run.word_count - 1;
	assert_null(portprof_batch_branches(&batch, &moved, &count));
	moved.valid &= ~(uint32_t)PORTPROF_FIELD_BRANCHES;
	assert_null(portprof_batch_branches(&batch, &moved, &count));
	branches = portprof_batch_branches(&batch, record, &count);
	assert_int_equal(count, 2);
	assert_int_equal(branches[0].from, record->address + 1);
	assert_int_equal(branches[0].to, record->address - 1);
	assert_int_equal(branches[0].flags, PORTPROF_BRANCH_MISPREDICTED);
	assert_int_equal(branches[0].cycles, 7);
	assert_int_equal(branches[1].flags, PORTPROF_BRANCH_PREDICTED);
	assert_int_equal(branches[1].cycles, 0);
	assert_int_equal(branches[1].from, record->address + 2);
}

static void hardware_tells_all_of_them(void **state)
{
	(void)state;
	run.room = 1; /* one record a drain: indexes into words are kept */
	sample("cycles:period=1000000", ALL, 0);
	for (size_t i = 0; i < run.record_count; i++) {
		const portprof_record *record = &run.records[i];

		if (record->kind != PORTPROF_RECORD_SAMPLE)
			continue;
		assert_int_equal(record->valid & ALL, ALL);
		assert_int_equal(record->data_address,
		                 record->address + 0x5000);
		assert_int_equal(record->latency, 17);
		assert_int_equal(record->branch_count, 2);
	}
}

/* In front of all records, where drained payloads do not move. */
static void branches_and_chains_share_the_arena(void **state)
{
	struct ppi_room room = { .record_room = 64 };
	portprof_record records[64];
	uint64_t words[PPI_WORDS_MIN * 4];
	size_t seen = 0;

	(void)state;
	run.plan.sample_fields = ALL;
	run.plan.chain_depth = 16;
	run.plan.want_modules = false;
	assert_int_equal(run_add(&run, "cycles:period=1000000", 0),
	                 PORTPROF_OK);
	assert_int_equal(run_open(&run), PORTPROF_OK);
	run_start(&run);
	run_work(perf_sim_main_tid(), 0x1000, 20 * MS, 0);
	room.records = records;
	room.words = words;
	room.word_room = sizeof(words) / sizeof(words[0]);
	run.bs.ops->drain(&run.bs, &room);
	run.records[0] = records[0];
	memcpy(run.words, words, room.word_count * sizeof(words[0]));
	run.record_count = room.record_count;
	run.word_count = room.word_count;
	for (size_t i = 0; i < room.record_count; i++) {
		portprof_batch batch = { records, room.record_count, words,
			                 room.word_count,
			                 sizeof(portprof_record) };
		size_t depth;
		const uint64_t *chain = portprof_batch_chain(
			&batch, &records[i], &depth);

		if (records[i].kind != PORTPROF_RECORD_SAMPLE)
			continue;
		check_branches(&records[i]);
		assert_true(depth > 0);
		assert_int_equal(chain[0], records[i].address);
		seen++;
	}
	assert_true(seen >= 10);
	run_stop(&run);
}

static void what_was_not_asked_for_is_not_there(void **state)
{
	(void)state;
	sample("cycles:period=1000000", PORTPROF_FIELD_LATENCY, 0);
	for (size_t i = 0; i < run.record_count; i++)
		if (run.records[i].kind == PORTPROF_RECORD_SAMPLE)
			assert_int_equal(run.records[i].valid & ALL,
			                 PORTPROF_FIELD_LATENCY);
}

static void what_has_none_claims_none(void **state)
{
	size_t samples = 0;

	(void)state;
	assert_int_equal(run_add(&run, "task-clock", 1000), PORTPROF_OK);
	sample("cycles:period=1000000", PORTPROF_FIELD_LATENCY |
	                             PORTPROF_FIELD_DATA_ADDRESS, 0);
	for (size_t i = 0; i < run.record_count; i++) {
		if (run.records[i].kind != PORTPROF_RECORD_SAMPLE ||
		    run.records[i].event != 0)
			continue;
		assert_int_equal(run.records[i].valid & ALL, 0);
		samples++;
	}
	assert_true(samples > 0);
}

/* Where no event can have it, nobody waits for what never comes. */
static void what_none_can_have_is_refused(void **state)
{
	static const struct {
		const char *event;
		uint32_t field;
		const char *name;
	} rows[] = {
		{ "task-clock", PORTPROF_FIELD_LATENCY, "no latency" },
		{ "task-clock", PORTPROF_FIELD_DATA_ADDRESS, "no data-address" },
		{ "page-faults", PORTPROF_FIELD_DATA_SOURCE, "no data-source" },
		{ "context-switches", PORTPROF_FIELD_TRANSACTION,
		  "no transaction" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		run_init(&run, PPI_SAMPLE);
		run.plan.sample_fields = rows[i].field;
		assert_int_equal(run_add(&run, rows[i].event, 100),
		                 PORTPROF_OK);
		assert_int_equal(run_open(&run), PORTPROF_E_UNSUPPORTED);
		assert_non_null(strstr(run.why.words, rows[i].name));
	}
}

static void what_cannot_have_branches_is_refused_in_words(void **state)
{
	(void)state;
	run.plan.sample_fields = PORTPROF_FIELD_BRANCHES;
	assert_int_equal(run_add(&run, "task-clock", 1000), PORTPROF_OK);
	assert_int_equal(run_open(&run), PORTPROF_E_UNSUPPORTED);
	assert_int_equal(run.why.os_errno, EOPNOTSUPP);
	assert_non_null(strstr(run.why.words, "the branches taken"));
	assert_non_null(strstr(run.why.words, "with fields"));
}

/* Who keeps them in a file asked for labels. */
static void labels_are_refused_by_that_name(void **state)
{
	(void)state;
	run.plan.sample_fields = PORTPROF_FIELD_BRANCHES;
	run.plan.label_fields = PORTPROF_FIELD_BRANCHES;
	assert_int_equal(run_add(&run, "task-clock", 1000), PORTPROF_OK);
	assert_int_equal(run_open(&run), PORTPROF_E_UNSUPPORTED);
	assert_non_null(strstr(run.why.words, "with labels"));
}

enum { MORE = PORTPROF_FIELD_LATENCY | PORTPROF_FIELD_INSTRUCTION_LATENCY |
              PORTPROF_FIELD_DATA_SOURCE | PORTPROF_FIELD_TRANSACTION |
              PORTPROF_FIELD_PHYSICAL_ADDRESS | PORTPROF_FIELD_PAGE_SIZES };

static void accesses_are_told_whole(void **state)
{
	(void)state;
	perf_sim_machine.paranoid = 1;
	sample("cycles:period=1000000", MORE, 0);
	for (size_t i = 0; i < run.record_count; i++) {
		const portprof_record *record = &run.records[i];

		if (record->kind != PORTPROF_RECORD_SAMPLE)
			continue;
		/* the address was not asked for, though it had to be */
		assert_int_equal(record->valid & (ALL | MORE), MORE);
		assert_int_equal(record->latency, 17);
		assert_int_equal(record->instruction_latency, 29);
		assert_true(record->data_source ==
		            (PORTPROF_DATA_STORE | PORTPROF_DATA_HIT |
		             PORTPROF_DATA_L3 | PORTPROF_DATA_SNOOP_MODIFIED |
		             PORTPROF_DATA_LOCKED | PORTPROF_DATA_TLB_HIT |
		             PORTPROF_DATA_TLB_L2));
		assert_true(record->transaction ==
		            (PORTPROF_TRANSACTION_EXPLICIT |
		             PORTPROF_TRANSACTION_CONFLICT |
		             UINT64_C(0xab) << 32));
		assert_int_equal(record->physical_address,
		                 record->address + 0x7000);
		assert_int_equal(record->data_page_bytes, 2 << 20);
		assert_int_equal(record->code_page_bytes, 4096);
	}
}

static void software_tells_the_code_page_alone(void **state)
{
	(void)state;
	perf_sim_machine.paranoid = 1;
	sample("task-clock", PORTPROF_FIELD_PAGE_SIZES, 0);
	for (size_t i = 0; i < run.record_count; i++)
		if (run.records[i].kind == PORTPROF_RECORD_SAMPLE) {
			assert_int_equal(run.records[i].valid & (ALL | MORE),
			                 PORTPROF_FIELD_PAGE_SIZES);
			assert_int_equal(run.records[i].data_page_bytes, 0);
			assert_int_equal(run.records[i].code_page_bytes, 4096);
		}
}

static void branches_are_filtered(void **state)
{
	const portprof_record *record;

	(void)state;
	run.plan.branch_kinds = PORTPROF_BRANCHES_CONDITIONAL |
	                        PORTPROF_BRANCHES_RETURNS;
	run.room = 1;
	sample("cycles:period=1000000", PORTPROF_FIELD_BRANCHES, 0);
	for (record = run.records; record->kind != PORTPROF_RECORD_SAMPLE;)
		record++;
	assert_int_equal(record->branch_count, 1);
}

static void physical_addresses_are_for_who_sees_the_kernel(void **state)
{
	(void)state;
	perf_sim_machine.paranoid = 2;
	run.plan.sample_fields = PORTPROF_FIELD_PHYSICAL_ADDRESS;
	assert_int_equal(run_add(&run, "cycles:u", 1000), PORTPROF_OK);
	assert_int_equal(run_open(&run), PORTPROF_E_DENIED);
	assert_non_null(strstr(run.why.words, "physical addresses"));
	assert_non_null(strstr(run.why.words, "perf_event_paranoid"));
}

static void branches_are_asked_for_by_kind(void **state)
{
	portprof_config *config = portprof_config_new();
	char value[128];

	(void)state;
	assert_int_equal(portprof_config_set(config, "branches",
	                                     "returns, calls"), PORTPROF_OK);
	assert_int_equal(portprof_config_get(config, "branches", 0, value,
	                                     sizeof(value)), PORTPROF_OK);
	assert_string_equal(value, "calls, returns");
	assert_int_equal(portprof_config_set(config, "branches", "callls"),
	                 PORTPROF_E_INVALID);
	assert_non_null(strstr(portprof_last_diag()->words, "calls"));
	assert_int_equal(portprof_config_set(config, "branches", "any"),
	                 PORTPROF_OK);
	assert_int_equal(portprof_config_get(config, "branches", 0, value,
	                                     sizeof(value)),
	                 PORTPROF_E_NOTFOUND);
	/* it is a field: a backend without events has none */
	portprof_config_set(config, "branches", "calls");
	portprof_config_set_backend(config, "null");
	{
		portprof_session *session;

		assert_int_equal(portprof_session_open(config, &session),
		                 PORTPROF_E_UNSUPPORTED);
	}
	portprof_config_free(config);
}

static void only_fields_of_hardware_can_be_asked_for(void **state)
{
	portprof_config *config = portprof_config_new();
	portprof_session *session;

	(void)state;
	assert_int_equal(portprof_config_set_number(config, "fields", ALL),
			 PORTPROF_OK);
	assert_int_equal(portprof_config_set_number(config, "fields",
						    PORTPROF_FIELD_TIME),
			 PORTPROF_E_INVALID);
	/* and not by a backend that has none */
	assert_int_equal(portprof_config_set_backend(config, "null"),
	                 PORTPROF_OK);
	assert_int_equal(portprof_session_open(config, &session),
	                 PORTPROF_E_UNSUPPORTED);
	portprof_config_free(config);
}

/* ---- on the real kernel, which tells where page faults happened, and on
 * how large pages, from 5.11 ---- */

enum { PAGES = 500, PAGE = 4096 };

static struct {
	uint64_t start, samples, inside, on_pages;
} faults;

static void take_faults(const portprof_batch *batch, void *context)
{
	(void)context;
	for (size_t i = 0; i < batch->count; i++) {
		const portprof_record *record = portprof_batch_record(batch, i);

		if (record->kind != PORTPROF_RECORD_SAMPLE)
			continue;
		faults.samples++;
		faults.on_pages += record->valid & PORTPROF_FIELD_PAGE_SIZES &&
		                   record->code_page_bytes >= PAGE;
		faults.inside += record->valid & PORTPROF_FIELD_DATA_ADDRESS &&
		                 record->data_address - faults.start <
		                         (uint64_t)PAGES * PAGE;
	}
}

static void page_faults_tell_where(void **state)
{
	portprof_config *config = portprof_config_new();
	/* not malloc, which may have memory that was touched before */
	volatile char *memory = mmap(NULL, (size_t)PAGES * PAGE,
	                             PROT_READ | PROT_WRITE,
	                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	portprof_session *session;

	(void)state;
	assert_ptr_not_equal(memory, MAP_FAILED);
	faults.start = (uint64_t)(uintptr_t)memory;
	portprof_config_set_backend(config, "perf");
	portprof_config_add_event(config, "page-faults:u:period=1");
	portprof_config_set_number(config, "fields",
				   PORTPROF_FIELD_DATA_ADDRESS);
	portprof_config_add_callback(config, take_faults, NULL);
	if (portprof_session_open(config, &session) != PORTPROF_OK) {
		print_message("skip: %s\n", portprof_last_diag()->words);
		portprof_config_free(config);
		munmap((void *)memory, (size_t)PAGES * PAGE);
		skip();
	}
	portprof_session_start(session);
	for (size_t i = 0; i < PAGES; i++)
		memory[i * PAGE] = 1;
	portprof_session_stop(session);
	portprof_session_close(session);
	portprof_config_free(config);
	/* huge pages may take most away */
	assert_true(faults.samples > 0);
	assert_true(faults.inside > 0);
	munmap((void *)memory, (size_t)PAGES * PAGE);
}

static void code_has_pages(void **state)
{
	portprof_config *config = portprof_config_new();
	volatile unsigned sum = 0;
	portprof_session *session;

	(void)state;
	memset(&faults, 0, sizeof(faults));
	portprof_config_set_backend(config, "perf");
	portprof_config_add_event(config, "task-clock:u:period=1000000");
	portprof_config_set_number(config, "fields", PORTPROF_FIELD_PAGE_SIZES);
	portprof_config_add_callback(config, take_faults, NULL);
	if (portprof_session_open(config, &session) != PORTPROF_OK) {
		print_message("skip: %s\n", portprof_last_diag()->words);
		portprof_config_free(config);
		skip();
	}
	portprof_session_start(session);
	for (unsigned i = 0; i < 100000000; i++)
		sum += i;
	portprof_session_stop(session);
	portprof_session_close(session);
	portprof_config_free(config);
	assert_true(faults.samples > 0);
	assert_true(faults.on_pages > 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fresh, nothing_is_held)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(hardware_tells_all_of_them),
		CASE(branches_and_chains_share_the_arena),
		CASE(what_was_not_asked_for_is_not_there),
		CASE(what_has_none_claims_none),
		CASE(what_none_can_have_is_refused),
		CASE(what_cannot_have_branches_is_refused_in_words),
		CASE(labels_are_refused_by_that_name),
		CASE(accesses_are_told_whole),
		CASE(software_tells_the_code_page_alone),
		CASE(branches_are_filtered),
		CASE(physical_addresses_are_for_who_sees_the_kernel),
		CASE(branches_are_asked_for_by_kind),
		CASE(only_fields_of_hardware_can_be_asked_for),
		cmocka_unit_test(page_faults_tell_where),
		cmocka_unit_test(code_has_pages),
	};

	return cmocka_run_group_tests_name("perf_fields", tests, NULL, NULL);
}
