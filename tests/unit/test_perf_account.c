/* SPDX-License-Identifier: MIT */
/* What is among lost samples, and what is not: on the simulated kernel, which
 * counts every record that finds no room, as the real one does. */
#include "backends/perf/sampling/perf_account.h"
#include "tests/unit/perf_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

static void *other_ring;

/* LOSS-11: no more samples than the event counted periods. */
static void check_bound(size_t event, uint64_t period, uint64_t threads)
{
	struct ppi_account account = run_account(&run, event);
	uint64_t delivered = run_samples(&run, (uint32_t)event) +
	                     account.lost_samples;

	assert_true(delivered <= account.total_weight / period + threads);
}

/* ---- mappings, threads and names ---- */

/* Short processes that nobody drains in time: each brings four records. */
static void storm(unsigned processes)
{
	for (unsigned i = 0; i < processes; i++) {
		int64_t pid = perf_sim_fork(0);

		perf_sim_rename(pid, "short");
		perf_sim_map_code(pid, 0x10000, 0x1000, "/lib/some.so", NULL);
		perf_sim_exit(pid);
	}
}

static void a_storm_of_processes_loses_no_sample(void **state)
{
	struct ppi_account account;

	(void)state;
	run.plan.follow_children = true;
	open_and_start("task-clock", 1000);
	storm(40000);
	run_work(perf_sim_main_tid(), 0x1000, 50 * MS, 0);
	run_stop(&run);
	account = run_account(&run, 0);
	assert_int_equal(run_samples(&run, 0), 50);
	assert_int_equal(account.lost_samples, 0);
	assert_int_equal(account.lost_certainty, PORTPROF_EXACT);
	assert_true(run_has_note(&run, "records of mappings and names"));
	check_bound(0, MS, 1);
}

/* Of each layout: the small ring of samples loses samples alone. */
static void what_is_lost_are_samples(void **state)
{
	(void)state;
	for (unsigned layout = 0; layout < 2; layout++) {
		struct ppi_account account;

		perf_sim_reset();
		if (layout)
			perf_sim_machine.missing = PERF_HAS_INHERIT_THREAD;
		run.plan.ring_bytes = 4096;
		open_and_start("task-clock", 10000);
		for (unsigned i = 0; i < 200; i++)
			perf_sim_rename(perf_sim_main_tid(), "again");
		run_work(perf_sim_main_tid(), 0x1000, 100 * MS, 0);
		for (unsigned i = 0; i < 200; i++)
			perf_sim_rename(perf_sim_main_tid(), "again");
		run_stop(&run);
		account = run_account(&run, 0);
		assert_true(account.lost_samples > 900);
		assert_int_equal(account.lost_samples + run_samples(&run, 0),
		                 1000);
		assert_int_equal(account.lost_certainty, PORTPROF_EXACT);
		assert_false(run_has_note(&run, "mappings and names"));
		assert_int_equal(run_kind(&run, PORTPROF_RECORD_THREAD), 401);
		run_close(&run);
		run_init(&run, PPI_SAMPLE);
	}
}

/* A process that is still there when its records were lost. */
static void lost_names_are_read_from_proc(void **state)
{
	int64_t child;

	(void)state;
	run.plan.follow_children = true;
	open_and_start("task-clock", 1000);
	storm(10000);
	child = perf_sim_fork(perf_sim_main_tid());
	perf_sim_exec(child, "late");
	perf_sim_map_code(child, 0x70000, 0x1000, "/lib/late.so", NULL);
	run_work(child, 0x70100, 10 * MS, 0);
	run_stop(&run);
	assert_int_equal(run_weight_of(&run, child), 10 * MS);
	assert_string_equal(run_name(&run, child), "late");
	assert_non_null(run_module(&run, "/lib/late.so"));
}

/* The same of a command, whose samples share its ring. */
static void a_command_has_its_names_after_a_storm(void **state)
{
	int64_t pid = begin_command("task-clock:u", 1000), child;

	(void)state;
	for (unsigned i = 0; i < 10000; i++)
		perf_sim_exit(perf_sim_fork(pid));
	child = perf_sim_fork(pid);
	perf_sim_exec(child, "late");
	perf_sim_map_code(child, 0x70000, 0x1000, "/lib/late.so", NULL);
	run_drain(&run);
	run_work(child, 0x70100, 10 * MS, 0);
	run_stop(&run);
	assert_int_equal(run_weight_of(&run, child), 10 * MS);
	assert_string_equal(run_name(&run, child), "late");
	assert_non_null(run_module(&run, "/lib/late.so"));
	assert_int_equal(run_account(&run, 0).lost_certainty, PORTPROF_UNKNOWN);
	assert_true(run_has_note(&run, "records were lost, samples or"));
}

/* Twenty thousand a second of one CPU, for as long as the helper sleeps and
 * then as long again. */
static void the_side_ring_holds_what_comes_meanwhile(void **state)
{
	(void)state;
	run.plan.follow_children = true;
	open_and_start("task-clock", 1000);
	assert_true(run.bs.drain_every_ms <= 50);
	for (unsigned nap = 0; nap < 20; nap++) {
		for (unsigned i = 0; i < run.bs.drain_every_ms * 20; i++)
			perf_sim_map_code(perf_sim_main_tid(), 0x10000, 4096,
			                  "/a/name/of/middling/length.so.6",
			                  NULL);
		perf_sim_idle(run.bs.drain_every_ms * MS);
		if (nap % 2)
			run_drain(&run);
	}
	run_stop(&run);
	assert_false(run_has_note(&run, "mappings and names"));
}

/* What the kernel writes of throttling is in the ring of samples, and counted
 * too when it finds no room. */
static void beside_throttling_the_number_is_not_exact(void **state)
{
	struct ppi_account account;

	(void)state;
	perf_sim_machine.throttle_every = 3;
	run.plan.ring_bytes = 4096;
	open_and_start("task-clock", 10000);
	run_work(perf_sim_main_tid(), 0x1000, 100 * MS, 0);
	run_stop(&run);
	account = run_account(&run, 0);
	assert_true(account.throttled > 0 && account.lost_samples > 0);
	assert_int_equal(account.lost_certainty, PORTPROF_UNKNOWN);
}

/* ---- samples that the kernel fills in for several events at once ---- */

/* Another recorder: it has its own ring and clock, and asks for no id. */
static int open_other(int64_t tid, uint64_t period, bool has_id, int clock)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = PERF_ATTR_BYTES,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = period,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
		               PERF_SAMPLE_TIME,
		.use_clockid = clock >= 0,
		.clockid = clock >= 0 ? clock : 0,
	};
	void *ring;
	int fd;

	if (has_id)
		attr.sample_type |= PERF_SAMPLE_IDENTIFIER;
	fd = perf_sim_kernel.open_event(NULL, &attr, tid, -1, -1, 0);
	assert_true(fd >= 0);
	assert_int_equal(perf_sim_kernel.map(NULL, fd, 65536 + 4096, &ring), 0);
	other_ring = ring;
	return fd;
}

static void close_other(int fd)
{
	perf_sim_kernel.unmap(NULL, other_ring, 65536 + 4096);
	perf_sim_kernel.close_event(NULL, fd, PERF_FRESH);
}

/* One session, two periods of one event, in rings that both share. */
static void two_periods_of_one_event(void **state)
{
	(void)state;
	for (unsigned layout = 0; layout < 2; layout++) {
		perf_sim_reset();
		if (layout)
			perf_sim_machine.missing = PERF_HAS_INHERIT_THREAD;
		run.plan.ring_bytes = 1 << 20;
		assert_int_equal(run_add(&run, "page-faults:period=3", 0),
		                 PORTPROF_OK);
		open_and_start("page-faults:u:period=7", 0);
		perf_sim_page_faults(perf_sim_main_tid(), 0x1000, 2100);
		run_stop(&run);
		assert_int_equal(run_samples(&run, 0), 700);
		assert_int_equal(run_weight(&run, 0), 2100);
		assert_int_equal(run_samples(&run, 1), 300);
		assert_int_equal(run_weight(&run, 1), 2100);
		for (size_t event = 0; event < 2; event++) {
			struct ppi_account account = run_account(&run, event);

			assert_int_equal(account.total_weight, 2100);
			assert_int_equal(account.lost_samples, 0);
			assert_int_equal(account.lost_certainty,
			                 PORTPROF_EXACT);
		}
		check_bound(0, 3, 1);
		check_bound(1, 7, 1);
		run_close(&run);
		run_init(&run, PPI_SAMPLE);
	}
}

/* Beside another recorder, on a kernel whose samples read counts and on one
 * where they do not. */
static void another_recorder_takes_no_sample(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		int other;

		perf_sim_reset();
		if (i)
			perf_sim_machine.missing = PERF_HAS_INHERIT_READ;
		run.plan.follow_children = true; /* CPU rings, whatever it costs */
		open_and_start("page-faults:period=2", 0);
		other = open_other(perf_sim_main_tid(), 1, true,
		                   CLOCK_MONOTONIC);
		perf_sim_page_faults(perf_sim_main_tid(), 0x1000, 1000);
		run_stop(&run);
		close_other(other);
		assert_int_equal(perf_state_of(&run.bs)->layout,
		                 PERF_CPU_RINGS);
		assert_int_equal(run_samples(&run, 0), 500);
		assert_int_equal(run_weight(&run, 0), 1000);
		assert_int_equal(run_account(&run, 0).lost_samples, 0);
		check_bound(0, 2, 1);
		run_close(&run);
		run_init(&run, PPI_SAMPLE);
	}
}

/* Of two events in one ring nobody can say whose it is: lost, not credited. */
static void what_cannot_be_told_apart_is_lost(void **state)
{
	struct ppi_account account;
	int other;

	(void)state;
	perf_sim_machine.missing = PERF_HAS_INHERIT_READ;
	run.plan.follow_children = true;
	run.plan.ring_bytes = 1 << 20;
	assert_int_equal(run_add(&run, "task-clock", 1000), PORTPROF_OK);
	open_and_start("page-faults:period=2", 0);
	other = open_other(perf_sim_main_tid(), 1, true, CLOCK_MONOTONIC);
	run_work(perf_sim_main_tid(), 0x1000, 5 * MS, 0);
	perf_sim_page_faults(perf_sim_main_tid(), 0x1000, 1000);
	run_stop(&run);
	close_other(other);
	account = run_account(&run, 1);
	assert_int_equal(run_samples(&run, 0), 5);
	/* what tells a clock's periods makes the kernel sample each fault */
	assert_int_equal(account.granted_period, 1);
	assert_int_equal(run_samples(&run, 1) + account.lost_samples, 1000);
	check_bound(1, account.granted_period, 1);
	assert_int_equal(account.lost_certainty, PORTPROF_UNKNOWN);
	assert_true(run_has_note(&run, "another recorder"));
}

static void equal_events_of_an_old_kernel_are_doubted(void **state)
{
	(void)state;
	perf_sim_machine.missing = PERF_HAS_INHERIT_READ;
	run.plan.follow_children = true;
	assert_int_equal(run_add(&run, "page-faults:period=3", 0),
	                 PORTPROF_OK);
	open_and_start("page-faults:u:period=7", 0);
	perf_sim_page_faults(perf_sim_main_tid(), 0x1000, 210);
	run_stop(&run);
	assert_true(run_has_note(&run, "page-faults"));
	for (size_t event = 0; event < 2; event++)
		assert_int_equal(run_account(&run, event).lost_certainty,
		                 PORTPROF_UNKNOWN);
}

/* The other's clock is ahead by an age, or behind: samples are drained while
 * they come, in order with what else the kernel tells. */
static void another_recorders_clock_stops_nothing(void **state)
{
	static const int clocks[] = { CLOCK_REALTIME, -1 };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		uint64_t begin, end, last = 0;
		int64_t thread;
		int other;

		perf_sim_reset();
		open_and_start("page-faults:period=1", 0);
		begin = perf_sim_now();
		other = open_other(perf_sim_main_tid(), 1, false, clocks[i]);
		thread = perf_sim_thread(perf_sim_main_tid());
		for (unsigned round = 0; round < 10; round++) {
			perf_sim_page_faults(perf_sim_main_tid(), 0x1000, 10);
			perf_sim_page_faults(thread, 0x1000, 10);
			perf_sim_idle(MS);
			run_drain(&run);
			assert_true(run_samples(&run, 0) >= 20 * round);
		}
		perf_sim_exit(thread);
		run_stop(&run);
		end = perf_sim_now();
		close_other(other);
		assert_int_equal(run_samples(&run, 0), 200);
		assert_int_equal(run_weight(&run, 0), 200);
		for (size_t at = 0; at < run.record_count; at++) {
			const portprof_record *record = &run.records[at];

			if (record->kind != PORTPROF_RECORD_SAMPLE)
				continue;
			assert_in_range(record->time_ns, begin, end);
			assert_true(record->time_ns >= last);
			last = record->time_ns;
		}
		run_close(&run);
		run_init(&run, PPI_SAMPLE);
	}
}

/* A thread's last samples come behind its end: the sum is what it counted. */
static void a_late_sample_is_not_counted_twice(void **state)
{
	int64_t thread;
	int other;

	(void)state;
	open_and_start("page-faults:period=1", 0);
	thread = perf_sim_thread(perf_sim_main_tid());
	other = open_other(thread, 1, false, CLOCK_REALTIME);
	perf_sim_page_faults(thread, 0x1000, 10);
	perf_sim_idle(MS);
	run_drain(&run);
	perf_sim_page_faults(thread, 0x1000, 10);
	perf_sim_exit(thread);
	perf_sim_idle(MS);
	run_stop(&run);
	close_other(other);
	assert_int_equal(run_weight(&run, 0), 20);
	assert_int_equal(run_account(&run, 0).total_weight, 20);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fresh, nothing_is_held)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_storm_of_processes_loses_no_sample),
		CASE(what_is_lost_are_samples),
		CASE(lost_names_are_read_from_proc),
		CASE(a_command_has_its_names_after_a_storm),
		CASE(the_side_ring_holds_what_comes_meanwhile),
		CASE(beside_throttling_the_number_is_not_exact),
		CASE(two_periods_of_one_event),
		CASE(another_recorder_takes_no_sample),
		CASE(what_cannot_be_told_apart_is_lost),
		CASE(equal_events_of_an_old_kernel_are_doubted),
		CASE(another_recorders_clock_stops_nothing),
		CASE(a_late_sample_is_not_counted_twice),
	};

	return cmocka_run_group_tests_name("ppi_perf_account", tests, NULL,
	                                   NULL);
}
