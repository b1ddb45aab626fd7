/* SPDX-License-Identifier: MIT */
/* Registers and stacks in place of chains, to be unwound above. */
#include "tests/unit/perf_run.h"

#include <portprof.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

enum { STACK = 8192, DEPTH = 16 };

static struct perf_run run;

static int fresh(void **state)
{
	(void)state;
	perf_sim_reset();
	run_init(&run, PPI_SAMPLE);
	run.plan.chain_depth = DEPTH;
	run.plan.stack_bytes = STACK;
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

static void open_at(const char *event, uint64_t rate_hz)
{
	assert_int_equal(run_add(&run, event, rate_hz), PORTPROF_OK);
	if (run_open(&run) != PORTPROF_OK)
		fail_msg("%s", run.why.words);
	run_start(&run);
}

/* The first sample, in kernel mode or not. */
static const portprof_record *find_sample(bool is_kernel)
{
	for (size_t i = 0; i < run.record_count; i++)
		if (run.records[i].kind == PORTPROF_RECORD_SAMPLE &&
		    !(run.records[i].valid & PORTPROF_FIELD_KERNEL) ==
		            !is_kernel)
			return &run.records[i];
	fail_msg("no such sample");
	return NULL;
}

static struct ppi_user_context context_of(const portprof_record *record,
                                          const uint64_t **stack)
{
	const uint64_t *words = run.words + record->payload +
	                        record->payload_words;
	struct ppi_user_context context;

	assert_true(record->valid & PPI_FIELD_CONTEXT);
	memcpy(&context, words, sizeof(context));
	*stack = words + sizeof(context) / 8;
	return context;
}

static void registers_and_stack_come_with_a_sample(void **state)
{
	const uint64_t *stack;
	struct ppi_user_context context;
	const portprof_record *record;

	(void)state;
	open_at("task-clock", 1000);
	run_work(perf_sim_main_tid(), 0x1000, 20 * MS, 0);
	run_stop(&run);
	record = find_sample(false);
	assert_int_equal(record->payload_words, 0);
	context = context_of(record, &stack);
	assert_int_equal(context.known, 0x1ffff);
	assert_int_equal(context.registers[16], 0x1000);
	assert_int_equal(context.registers[7], PERF_SIM_STACK);
	/* by their DWARF numbers: bx, cx, dx, bp, r8, r15 */
	assert_int_equal(context.registers[3], 1);
	assert_int_equal(context.registers[2], 2);
	assert_int_equal(context.registers[1], 3);
	assert_int_equal(context.registers[6], 6);
	assert_int_equal(context.registers[8], 16);
	assert_int_equal(context.registers[15], 23);
	assert_int_equal(context.stack_bytes, STACK);
	assert_false(context.is_stack_all);
	for (size_t i = 0; i < STACK / 8; i++)
		assert_int_equal(stack[i], PERF_SIM_STACK + 8 * i);
}

static void a_stack_ends_where_its_memory_does(void **state)
{
	const uint64_t *stack;
	struct ppi_user_context context;

	(void)state;
	perf_sim_machine.stack_bytes = 64;
	open_at("task-clock", 1000);
	run_work(perf_sim_main_tid(), 0x1000, 20 * MS, 0);
	run_stop(&run);
	context = context_of(find_sample(false), &stack);
	assert_int_equal(context.stack_bytes, 64);
	assert_true(context.is_stack_all);
}

/* What frame pointers led the kernel to follows the stack: it may lie past the
 * copy. The address itself was not called. */
static void callers_of_the_kernel_come_with_it(void **state)
{
	const uint64_t *stack;
	struct ppi_user_context context;

	(void)state;
	open_at("task-clock", 1000);
	run_work(perf_sim_main_tid(), 0x1000, 20 * MS, 0);
	run_stop(&run);
	context = context_of(find_sample(false), &stack);
	assert_int_equal(context.caller_count, PERF_SIM_DEPTH - 1);
	assert_int_equal(stack[STACK / 8], 0x101000);
}

/* With those of the kernel they are no more than were asked for. */
static void callers_are_within_the_depth(void **state)
{
	const portprof_record *record;
	const uint64_t *stack;

	(void)state;
	perf_sim_machine.is_privileged = true;
	run.plan.chain_depth = 1;
	open_at("task-clock", 1000);
	run_work(perf_sim_main_tid(), 0x1000, 40 * MS, 20 * MS);
	run_stop(&run);
	record = find_sample(true);
	assert_int_equal(record->payload_words, 1);
	assert_int_equal(context_of(record, &stack).caller_count, 0);
}

/* The kernel's part is the kernel's; of the user's its context comes. */
static void the_kernel_tells_its_own_part(void **state)
{
	const portprof_record *record;
	const uint64_t *stack;
	struct ppi_user_context context;

	(void)state;
	perf_sim_machine.is_privileged = true;
	open_at("task-clock", 1000);
	run_work(perf_sim_main_tid(), 0x1000, 40 * MS, 20 * MS);
	run_stop(&run);
	record = find_sample(true);
	assert_int_equal(record->payload_words, 1);
	assert_int_equal(run.words[record->payload], record->address);
	context = context_of(record, &stack);
	assert_int_equal(context.registers[16], 0x1000);
	assert_int_equal(find_sample(false)->payload_words, 0);
}

static void what_has_no_user_part_is_no_stack(void **state)
{
	const portprof_record *record;

	(void)state;
	perf_sim_machine.is_privileged = true;
	perf_sim_machine.has_no_user_part = true;
	open_at("task-clock", 1000);
	run_work(perf_sim_main_tid(), 0x1000, 40 * MS, 20 * MS);
	run_stop(&run);
	record = find_sample(true);
	assert_false(record->valid & PPI_FIELD_CONTEXT);
	assert_int_equal(record->payload_words, 1);
	assert_int_equal(record->chain_end, PORTPROF_CHAIN_WHOLE);
}

/* The unwinder is to know that its registers mean something else. */
static void programs_of_32_bits_are_known_as_such(void **state)
{
	const uint64_t *stack;

	(void)state;
	perf_sim_machine.is_32_bit = true;
	open_at("task-clock", 1000);
	run_work(perf_sim_main_tid(), 0x1000, 20 * MS, 0);
	run_stop(&run);
	assert_true(context_of(find_sample(false), &stack).is_32_bit);
}

/* How many samples at 1000 Hz the rings hold between two drains. */
static uint64_t samples_without_drain(void)
{
	open_at("task-clock", 1000);
	run_work(perf_sim_main_tid(), 0x1000, 400 * MS, 0);
	run_stop(&run);
	assert_int_equal(run_account(&run, 0).lost_samples, 0);
	return run_samples(&run, 0);
}

static void rings_last_as_long_as_without_stacks(void **state)
{
	(void)state;
	perf_sim_machine.is_privileged = true;
	run.plan.stack_bytes = 32768;
	assert_in_range(samples_without_drain(), 399, 401);
	assert_false(run_has_note(&run, "stack"));
}

/* Less of each stack, and no sample lost. */
static void little_memory_means_small_copies(void **state)
{
	const uint64_t *stack;
	struct ppi_user_context context;

	(void)state;
	perf_sim_machine.is_privileged = false;
	perf_sim_machine.lockable_bytes = 8 << 20;
	run.plan.stack_bytes = 32768;
	assert_in_range(samples_without_drain(), 399, 401);
	context = context_of(find_sample(false), &stack);
	assert_in_range(context.stack_bytes, 1024, 16384);
	assert_true(run_has_note(&run, "perf_event_mlock_kb"));
}

/* Whose memory is not limited is not told that it is: the rate is the cause. */
static void high_rates_mean_small_copies(void **state)
{
	const uint64_t *stack;
	struct ppi_user_context context;

	(void)state;
	perf_sim_machine.is_privileged = true;
	run.plan.stack_bytes = 32768;
	open_at("task-clock", 8000);
	run_work(perf_sim_main_tid(), 0x1000, 40 * MS, 0);
	run_stop(&run);
	assert_int_equal(run_account(&run, 0).lost_samples, 0);
	context = context_of(find_sample(false), &stack);
	assert_in_range(context.stack_bytes, 1024, 32767);
	assert_true(run_has_note(&run, "at this rate"));
	assert_false(run_has_note(&run, "perf_event_mlock_kb"));
}

/* One thread's ring is made with its event: how large it can be is found out
 * before. */
static void the_ring_of_a_thread_likewise(void **state)
{
	const uint64_t *stack;
	struct ppi_user_context context;

	(void)state;
	perf_sim_machine.is_privileged = false;
	perf_sim_machine.lockable_bytes = 4 << 20;
	run.plan.target.kind = PPI_TARGET_TID;
	run.plan.target.tid = perf_sim_main_tid();
	run.plan.stack_bytes = 32768;
	assert_in_range(samples_without_drain(), 399, 401);
	context = context_of(find_sample(false), &stack);
	assert_in_range(context.stack_bytes, 1024, 16384);
	assert_true(run_has_note(&run, "perf_event_mlock_kb"));
}

/* What a CPU's sample of a young process showed is kept with its stack. */
static void estimates_have_stacks(void **state)
{
	size_t stacks = 0;

	(void)state;
	perf_sim_machine.is_privileged = true;
	run.plan.follow_children = true;
	run.plan.target.kind = PPI_TARGET_PID;
	run.plan.target.is_self = false;
	open_at("task-clock", 1000);
	for (int i = 0; i < 200; i++) {
		int64_t child = perf_sim_fork(perf_sim_main_tid());

		run_work(child, 0x2000, MS / 2, 0);
		perf_sim_exit(child);
	}
	run_stop(&run);
	for (size_t i = 0; i < run.record_count; i++) {
		const portprof_record *record = &run.records[i];
		const uint64_t *stack;

		if (record->kind != PORTPROF_RECORD_SAMPLE ||
		    record->address != 0x2000)
			continue;
		assert_int_equal(context_of(record, &stack).registers[16],
		                 0x2000);
		assert_int_equal(record->payload_words, 0);
		assert_int_equal(stack[1], PERF_SIM_STACK + 8);
		stacks++;
	}
	assert_true(stacks > 20);
}

/* How many copies there are of each size, and what they weigh together. */
static uint64_t weigh_copies(size_t *small, size_t *large)
{
	const uint64_t *stack;
	uint64_t weight = 0;

	*small = *large = 0;
	for (size_t i = 0; i < run.record_count; i++) {
		const portprof_record *record = &run.records[i];

		if (record->kind != PORTPROF_RECORD_SAMPLE)
			continue;
		weight += record->weight;
		if (context_of(record, &stack).stack_bytes == 8192)
			(*small)++;
		else if (context_of(record, &stack).stack_bytes == 32768)
			(*large)++;
	}
	return weight;
}

/* Small until chains are cut; each thread's weight continues as if it were one
 * event. A thread that comes later has the larger ones from its beginning, and
 * a stop and a start change nothing. */
static void grow(bool is_whole_system)
{
	size_t small, large, before;
	uint64_t weight;
	int64_t thread;

	perf_sim_machine.is_privileged = true;
	run.plan.stack_bytes = 32768;
	run.plan.may_copy_less = true;
	if (is_whole_system) {
		run.plan.target.kind = PPI_TARGET_SYSTEM;
		run.plan.target.is_self = false;
	}
	thread = perf_sim_thread(perf_sim_main_tid());
	open_at("task-clock", 1000);
	/* the first look comes before many chains are cut */
	assert_in_range(run.bs.drain_every_ms, 1, 8);
	run_work(perf_sim_main_tid(), 0x1000, 30 * MS, 0);
	run_work(thread, 0x2000, 30 * MS, 0);
	run_drain(&run);
	weigh_copies(&small, &large);
	assert_in_range(small, 55, 62);
	assert_int_equal(large, 0);
	before = small;
	run_work(perf_sim_main_tid(), 0x1000, 10 * MS, 0);
	run.bs.wants_longer_stacks = true;
	run_drain(&run);
	run_work(perf_sim_main_tid(), 0x1000, 30 * MS, 0);
	run_work(thread, 0x2000, 30 * MS, 0);
	run_stop(&run);
	run_start(&run);
	thread = perf_sim_thread(perf_sim_main_tid());
	run_work(thread, 0x3000, 30 * MS, 0);
	run_stop(&run);
	weight = weigh_copies(&small, &large);
	assert_in_range(small, before + 8, before + 12);
	assert_in_range(large, 82, 96);
	/* of each thread what was used since its last small copy is in none */
	assert_in_range(weight, 155 * MS, 160 * MS);
	assert_in_range(run_account(&run, 0).total_weight, 159 * MS,
	                161 * MS);
	assert_int_equal(run_account(&run, 0).lost_samples, 0);
	assert_true(run_has_note(&run, "32768"));
}

static void copies_begin_small_and_grow(void **state)
{
	(void)state;
	grow(false);
}

static void of_the_whole_system_likewise(void **state)
{
	(void)state;
	grow(true);
}

/* A room that is full takes it next time. */
static void small_rooms_lose_nothing(void **state)
{
	struct ppi_room room = { .record_room = 4 };
	portprof_record records[4];
	uint64_t words[STACK / 8 * 2];
	uint64_t samples = 0;

	(void)state;
	room.records = records;
	room.words = words;
	room.word_room = sizeof(words) / sizeof(words[0]);
	run.plan.want_modules = false;
	open_at("task-clock", 1000);
	run_work(perf_sim_main_tid(), 0x1000, 50 * MS, 0);
	run.bs.ops->stop(&run.bs, &run.why);
	do {
		room.record_count = room.word_count = 0;
		run.bs.ops->drain(&run.bs, &room);
		samples += room.record_count;
	} while (room.record_count);
	assert_in_range(samples, 49, 51);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
#define CASE(name) \
	cmocka_unit_test_setup_teardown(name, fresh, nothing_is_held)
		CASE(registers_and_stack_come_with_a_sample),
		CASE(a_stack_ends_where_its_memory_does),
		CASE(callers_of_the_kernel_come_with_it),
		CASE(callers_are_within_the_depth),
		CASE(the_kernel_tells_its_own_part),
		CASE(what_has_no_user_part_is_no_stack),
		CASE(programs_of_32_bits_are_known_as_such),
		CASE(rings_last_as_long_as_without_stacks),
		CASE(little_memory_means_small_copies),
		CASE(high_rates_mean_small_copies),
		CASE(the_ring_of_a_thread_likewise),
		CASE(estimates_have_stacks),
		CASE(copies_begin_small_and_grow),
		CASE(of_the_whole_system_likewise),
		CASE(small_rooms_lose_nothing),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
