/* SPDX-License-Identifier: MIT */
/* Sampling sessions of the perf backend on the simulated kernel. */
#include "tests/unit/perf_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

/* ---- totals ---- */

static void one_thread_one_cpu(void **state)
{
	(void)state;
	open_and_start("task-clock", 1000);
	run_work(perf_sim_main_tid(), 0x1000, 100 * MS + 300, 0);
	run_stop(&run);
	assert_int_equal(run_samples(&run, 0), 100);
	/* what it used when its samples were read is known */
	assert_int_equal(run_weight(&run, 0), 100 * MS + 300);
	check_closure(100 * MS + 300, 1, MS);
	assert_int_equal(run_account(&run, 0).cpu_time_ns, 100 * MS + 300);
	assert_int_equal(run_account(&run, 0).not_attached, 0);
}

/* Each CPU's event has a tail of its own; the thread has one. */
static void migrating_threads(void **state)
{
	struct perf_sim_work works[16];

	(void)state;
	perf_sim_machine.migrates = true;
	perf_sim_machine.slice_ns = 700000;
	open_and_start("task-clock", 100);
	for (size_t i = 0; i < 16; i++)
		works[i] = (struct perf_sim_work){
			perf_sim_thread(0), 0x1000 + i, 203 * MS, 0, NULL
		};
	perf_sim_run(works, 16);
	run_stop(&run);
	check_closure(16 * 203 * MS, 16 * perf_sim_machine.cpus, 10 * MS);
	/* On average half a period is left, not half for each CPU. */
	assert_true(16 * 203 * MS - run_weight(&run, 0) < 16 * 10 * MS);
}

static void late_timers_lose_no_weight(void **state)
{
	(void)state;
	perf_sim_machine.late_every = 5;
	perf_sim_machine.late_ns = 3400000;
	open_and_start("task-clock", 1000);
	run_work(perf_sim_main_tid(), 0x1000, 500 * MS, 0);
	run_stop(&run);
	assert_true(run_samples(&run, 0) < 350);
	check_closure(500 * MS, 1, 5 * MS);
}

static void kernel_time_goes_to_the_next_user_pc(void **state)
{
	(void)state;
	perf_sim_machine.is_privileged = false;
	open_and_start("task-clock", 1000);
	assert_false(run.events[0].counts_kernel);
	assert_true(run_has_note(&run, "no samples in kernel mode"));
	run_work(perf_sim_main_tid(), 0x1000, 200 * MS, 100 * MS);
	run_work(perf_sim_main_tid(), 0x1000, 2 * MS, 0);
	run_stop(&run);
	assert_true(run_samples(&run, 0) < 150);
	check_closure(202 * MS, 1, MS);
	for (size_t i = 0; i < run.record_count; i++)
		assert_false(run.records[i].valid & PORTPROF_FIELD_KERNEL);
}

/* "cpu-clock:u": user time alone, a period a sample, the total not exact. */
static void one_mode_is_weighed_by_periods(void **state)
{
	(void)state;
	open_and_start("cpu-clock:u", 1000);
	assert_false(run.events[0].is_cpu_time);
	run_work(perf_sim_main_tid(), 0x1000, 200 * MS, 100 * MS);
	run_stop(&run);
	assert_in_range(run_weight(&run, 0), 80 * MS, 120 * MS);
	assert_int_equal(run_weight(&run, 0), run_samples(&run, 0) * MS);
	assert_int_equal(run_account(&run, 0).total_weight,
	                 run_weight(&run, 0));
	assert_int_equal(run_account(&run, 0).total_certainty,
	                 PORTPROF_UNKNOWN);
}

static void kernel_samples_say_where_from(void **state)
{
	size_t kernel = 0;

	(void)state;
	run.plan.want_user_address = true;
	run.plan.chain_depth = 8;
	open_and_start("task-clock", 1000);
	run_work(perf_sim_main_tid(), 0x1234, 100 * MS, 60 * MS);
	run_stop(&run);
	for (size_t i = 0; i < run.record_count; i++) {
		const portprof_record *record = &run.records[i];
		const uint64_t *chain = run.words + record->payload;

		if (record->kind != PORTPROF_RECORD_SAMPLE)
			continue;
		assert_true(record->valid & PORTPROF_FIELD_CHAIN);
		assert_int_equal(chain[0], record->address);
		for (size_t at = 0; at < record->payload_words; at++)
			assert_true(chain[at] < PERF_CHAIN_MARKER);
		if (record->valid & PORTPROF_FIELD_KERNEL) {
			kernel++;
			assert_int_equal(record->user_address, 0x1234);
			assert_int_equal(chain[1], 0x1234);
			assert_int_equal(record->payload_words,
			                 1 + PERF_SIM_DEPTH);
		} else {
			assert_int_equal(record->address, 0x1234);
			assert_int_equal(record->payload_words,
			                 PERF_SIM_DEPTH);
		}
	}
	assert_true(kernel > 20);
	assert_non_null(run_module(&run, "[kernel.kallsyms]"));
}

/* What the guest ran has no address here, least of all the host's. */
static void guests_are_no_code_of_the_host(void **state)
{
	size_t samples = 0;

	(void)state;
	run.plan.chain_depth = 8;
	perf_sim_machine.is_in_guest = true;
	open_and_start("task-clock", 1000);
	run_work(perf_sim_main_tid(), 0x1234, 100 * MS, 60 * MS);
	run_stop(&run);
	for (size_t i = 0; i < run.record_count; i++) {
		const portprof_record *record = &run.records[i];

		if (record->kind != PORTPROF_RECORD_SAMPLE)
			continue;
		samples++;
		assert_true(record->valid & PORTPROF_FIELD_GUEST);
		assert_false(record->valid & PORTPROF_FIELD_KERNEL);
		assert_int_equal(record->address, 0);
		assert_int_equal(record->payload_words, 1);
		assert_int_equal(run.words[record->payload], 0);
	}
	assert_true(samples > 90);
}

static void stop_and_start_go_on(void **state)
{
	(void)state;
	open_and_start("task-clock", 1000);
	for (unsigned i = 0; i < 50; i++) {
		run_work(perf_sim_main_tid(), 0x1000, 1700000, 0);
		run_stop(&run);
		run_work(perf_sim_main_tid(), 0x2000, 5 * MS, 0);
		run_start(&run);
	}
	run_stop(&run);
	check_closure(50 * 1700000, 1, MS);
	assert_int_equal(run_account(&run, 0).cpu_time_ns, 50 * 1700000);
	for (size_t i = 0; i < run.record_count; i++)
		if (run.records[i].kind == PORTPROF_RECORD_SAMPLE)
			assert_int_equal(run.records[i].address, 0x1000);
}

/* ---- losses ---- */

static void a_full_ring_is_counted(void **state)
{
	struct ppi_account account;

	(void)state;
	run.plan.ring_bytes = 4096;
	open_and_start("task-clock", 10000);
	run_work(perf_sim_main_tid(), 0x1000, 100 * MS, 0);
	run_stop(&run);
	account = run_account(&run, 0);
	assert_true(account.lost_samples > 900);
	assert_int_equal(account.lost_samples + run_samples(&run, 0), 1000);
	assert_int_equal(account.lost_certainty, PORTPROF_EXACT);
	assert_int_equal(account.total_weight, 100 * MS);

	/* What was lost is in the next sample's weight. */
	run_start(&run);
	run_work(perf_sim_main_tid(), 0x1000, MS, 0);
	run_stop(&run);
	check_closure(101 * MS, 1, 100000);
}

static void without_format_lost_it_is_a_lower_bound(void **state)
{
	struct ppi_account account;

	(void)state;
	perf_sim_machine.missing = PERF_HAS_LOST;
	open_and_start("task-clock", 1000);
	perf_sim_lose(7);
	run_work(perf_sim_main_tid(), 0x1000, 20 * MS, 0);
	run_stop(&run);
	account = run_account(&run, 0);
	assert_int_equal(account.lost_samples, 7);
	assert_int_equal(account.lost_certainty, PORTPROF_UNKNOWN);
	check_closure(20 * MS, 1, MS);
}

static void throttling_is_told(void **state)
{
	(void)state;
	perf_sim_machine.throttle_every = 10;
	open_and_start("task-clock", 1000);
	run_work(perf_sim_main_tid(), 0x1000, 55 * MS, 0);
	run_stop(&run);
	assert_int_equal(run_account(&run, 0).throttled, 5);
}

/* ---- rings ---- */

static void two_events_share_the_rings(void **state)
{
	(void)state;
	perf_sim_machine.counters = 4;
	assert_int_equal(run_add(&run, "cycles", 500), PORTPROF_OK);
	open_and_start("task-clock", 1000);
	/* and mappings and names have one of their own on each CPU */
	assert_int_equal(perf_sim_mapped(), 8);
	run_work(perf_sim_main_tid(), 0x1000, 100 * MS, 0);
	run_stop(&run);
	assert_int_equal(run_weight(&run, 0), 100 * MS);
	assert_int_equal(run_samples(&run, 0), 50);
	assert_int_equal(run_weight(&run, 1), 100 * MS);
	assert_int_equal(run_samples(&run, 1), 100);
	for (size_t i = 1; i < run.record_count; i++)
		if (run.records[i - 1].kind == PORTPROF_RECORD_SAMPLE)
			assert_true(run.records[i].time_ns >=
			            run.records[i - 1].time_ns);
}

static void rings_come_in_the_order_of_time(void **state)
{
	struct perf_sim_work works[12];
	uint64_t last = 0;

	(void)state;
	open_and_start("task-clock", 1000);
	for (size_t i = 0; i < 12; i++)
		works[i] = (struct perf_sim_work){
			perf_sim_thread(0), 0x1000, (20 + i) * MS, 0, NULL
		};
	perf_sim_run(works, 12);
	run_stop(&run);
	for (size_t i = 0; i < run.record_count; i++) {
		if (!(run.records[i].valid & PORTPROF_FIELD_TIME))
			continue;
		assert_true(run.records[i].time_ns >= last);
		last = run.records[i].time_ns;
	}
	assert_true(last > 0);
}

/* With room for a single record each time, everything comes all the same. */
static void steps_of_one_record(void **state)
{
	(void)state;
	run.room = 1;
	run.plan.chain_depth = 4;
	open_and_start("task-clock", 1000);
	run_work(perf_sim_main_tid(), 0x1000, 30 * MS, 10 * MS);
	perf_sim_map_code(perf_sim_main_tid(), 0x20000, 0x1000, "/lib/x.so",
	                  NULL);
	run_stop(&run);
	assert_int_equal(run_samples(&run, 0), 30);
	assert_int_equal(run_weight(&run, 0), 30 * MS);
	assert_non_null(run_module(&run, "/lib/x.so"));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fresh, nothing_is_held)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(one_thread_one_cpu),
		CASE(migrating_threads),
		CASE(late_timers_lose_no_weight),
		CASE(kernel_time_goes_to_the_next_user_pc),
		CASE(one_mode_is_weighed_by_periods),
		CASE(kernel_samples_say_where_from),
		CASE(guests_are_no_code_of_the_host),
		CASE(stop_and_start_go_on),
		CASE(a_full_ring_is_counted),
		CASE(without_format_lost_it_is_a_lower_bound),
		CASE(throttling_is_told),
		CASE(two_events_share_the_rings),
		CASE(rings_come_in_the_order_of_time),
		CASE(steps_of_one_record),
	};

	return cmocka_run_group_tests_name("perf_session", tests, NULL, NULL);
}
