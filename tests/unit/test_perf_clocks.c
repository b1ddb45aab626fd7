/* SPDX-License-Identifier: MIT */
/* Samples of inherited clocks, which have no count: no switch of threads stops an
 * event, and weights are by the threads' own clocks. On a simulated kernel. */
#include "backends/perf/sampling/perf_sides.h"
#include "tests/unit/perf_case.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

enum { USER = 0x1000 };

/* Two that take turns every 20 us on one CPU, where a switch that stops events
 * costs 10 us. */
static void take_turns(int64_t one, int64_t other)
{
	const struct perf_sim_work works[] = {
		{ one, USER, 100 * MS, 0, NULL },
		{ other, USER, 100 * MS, 0, NULL },
	};

	perf_sim_run(works, 2);
}

static void set_switches(void)
{
	perf_sim_machine.cpus = 1;
	perf_sim_machine.slice_ns = 20 * US;
	perf_sim_machine.switch_ns = 10 * US;
}

static void switches_of_a_command_stop_no_event(void **state)
{
	int64_t pid, child;

	(void)state;
	set_switches();
	pid = begin_command("task-clock", 1000);
	child = perf_sim_fork(pid);
	take_turns(pid, child);
	run_stop(&run);
	assert_int_equal(perf_sim_cpu_time(pid), 100 * MS);
	assert_int_equal(perf_sim_cpu_time(child), 100 * MS);
	check_closure(200 * MS, 2, MS);
}

static void switches_of_the_own_threads_stop_no_event(void **state)
{
	int64_t one, other;

	(void)state;
	set_switches();
	open_and_start("task-clock", 1000);
	one = perf_sim_thread(0);
	other = perf_sim_thread(0);
	take_turns(one, other);
	run_stop(&run);
	assert_int_equal(perf_sim_cpu_time(perf_sim_main_tid()), 200 * MS);
	check_closure(200 * MS, 2, MS);
}

/* CPUs are sampled for it: its threads have no event at all. */
static void switches_under_sampled_cpus_stop_no_event(void **state)
{
	int64_t pid = perf_sim_fork(0), child;

	(void)state;
	set_switches();
	run.plan.target = (struct ppi_target){
		.kind = PPI_TARGET_COMMAND, .pid = pid,
		.tid = 0, .is_self = false,
	};
	run.plan.follow_children = true;
	open_and_start("task-clock", 1000);
	perf_sim_exec(pid, "prog");
	child = perf_sim_fork(pid);
	take_turns(pid, child);
	run_stop(&run);
	assert_int_equal(perf_sim_cpu_time(pid), 100 * MS);
	assert_int_equal(perf_sim_cpu_time(child), 100 * MS);
	assert_in_range(run_weight(&run, 0), 190 * MS, 210 * MS);
}

/* Who is whose page fault needs no count: each is a sample. */
static void page_faults_beside_a_clock_stop_no_event(void **state)
{
	int64_t pid, child;

	(void)state;
	set_switches();
	perf_sim_machine.is_privileged = false;
	assert_int_equal(run_add(&run, "page-faults:u:period=1", 0),
	                 PORTPROF_OK);
	pid = begin_command("task-clock", 1000);
	child = perf_sim_fork(pid);
	take_turns(pid, child);
	perf_sim_page_faults(child, USER, 3);
	run_stop(&run);
	assert_int_equal(perf_sim_cpu_time(pid), 100 * MS);
	assert_int_equal(perf_sim_cpu_time(child), 100 * MS);
	assert_int_equal(run_weight(&run, 0), 3);
}

/* The simulated kernel is no kinder than the real one: with a count in each
 * sample, as occurrences with a period need it beside a clock, switches cost. */
static void samples_that_read_stop_events(void **state)
{
	int64_t pid, child;

	(void)state;
	set_switches();
	perf_sim_machine.is_privileged = false;
	assert_int_equal(run_add(&run, "page-faults:u:period=9", 0),
	                 PORTPROF_OK);
	pid = begin_command("task-clock", 1000);
	child = perf_sim_fork(pid);
	take_turns(pid, child);
	run_stop(&run);
	assert_true(perf_sim_cpu_time(child) > 140 * MS);
}

/* Where no sample may be in the kernel, the thread's other samples have that
 * time: each thread its own. */
static void kernel_time_is_in_the_threads_own_samples(void **state)
{
	int64_t pid, child;

	(void)state;
	perf_sim_machine.cpus = 1;
	perf_sim_machine.slice_ns = 3 * MS + 70 * US;
	pid = begin_command("task-clock", 1000);
	child = perf_sim_fork(pid);
	for (unsigned i = 0; i < 20; i++) {
		const struct perf_sim_work works[] = {
			{ pid, USER, 50 * MS, 30 * MS, NULL },
			{ child, USER, 50 * MS, 0, NULL },
		};

		perf_sim_run(works, 2);
		run_drain(&run);
	}
	run_stop(&run);
	check_closure(2000 * MS, 2, MS);
	assert_in_range(run_weight_of(&run, pid), 999 * MS, 1000 * MS);
	assert_in_range(run_weight_of(&run, child), 999 * MS, 1000 * MS);
	/* by fewer samples */
	assert_true(run_samples(&run, 0) < 1600);
}

/* Nobody can read its clock any more: a period for each sample, and what its last
 * period was is in none. */
static void the_clock_of_a_thread_that_ended_is_unknown(void **state)
{
	int64_t pid, child;

	(void)state;
	pid = begin_command("task-clock", 1000);
	child = perf_sim_fork(pid);
	run_work(child, USER, 7 * MS + 900 * US, 0);
	run_drain(&run);
	run_work(child, USER, 5 * MS, 0);
	perf_sim_exit(child);
	run_stop(&run);
	assert_int_equal(run_account(&run, 0).total_weight, 12 * MS + 900 * US);
	assert_in_range(run_weight_of(&run, child), 12 * MS,
	                12 * MS + 900 * US);
}

/* Turns of 10 ms in user code and 20 in the kernel, where no sample may be. */
static int64_t run_in_kernel(int64_t pid, unsigned turns)
{
	int64_t child = perf_sim_fork(pid);

	for (unsigned i = 0; i < turns; i++) {
		run_work(child, USER, 30 * MS, 20 * MS);
		run_drain(&run);
	}
	return child;
}

/* What it uses after its samples were read last it uses as before. */
static void kernel_time_at_a_threads_end_is_in_its_last_samples(void **state)
{
	int64_t child;

	(void)state;
	child = run_in_kernel(begin_command("task-clock", 1000), 40);
	run_work(child, USER, 30 * MS, 20 * MS);
	perf_sim_exit(child);
	run_stop(&run);
	assert_int_equal(run_account(&run, 0).total_weight, 41 * 30 * MS);
	assert_true(run_weight(&run, 0) <= 41 * 30 * MS);
	assert_in_range(run_weight_of(&run, child), 41 * 30 * MS - MS,
	                41 * 30 * MS);
}

/* Its clock is read without a sample, and what it used since the last of them is one
 * more, before its end is told. */
static void kernel_time_behind_a_threads_last_sample_is_one_more(void **state)
{
	uint64_t before;
	int64_t pid, child;

	(void)state;
	pid = begin_command("task-clock", 1000);
	child = run_in_kernel(pid, 4);
	before = run_samples(&run, 0);
	run_work(child, USER, 60 * MS, 60 * MS);
	run_drain(&run);
	assert_int_equal(run_samples(&run, 0), before);
	perf_sim_exit(child);
	run_work(pid, USER, 5 * MS, 0);
	run_drain(&run);
	assert_in_range(run_weight_of(&run, child), 179 * MS, 180 * MS);
	assert_in_range(run_samples(&run, 0), before + 5, before + 6);
	run_stop(&run);
	check_closure(185 * MS, 2, MS);
}

/* It was estimated to go on, and did not: no more is given than was counted. */
static void a_thread_that_stood_gets_no_more_than_was_counted(void **state)
{
	int64_t pid, child;

	(void)state;
	pid = begin_command("task-clock", 1000);
	child = run_in_kernel(pid, 4);
	perf_sim_idle(100 * MS);
	perf_sim_exit(child);
	run_stop(&run);
	assert_int_equal(run_account(&run, 0).total_weight, 120 * MS);
	assert_in_range(run_weight_of(&run, child), 119 * MS, 120 * MS);
}

/* Nobody knows where: it is laid on nobody else. */
static void a_thread_without_a_sample_stays_unattributed(void **state)
{
	int64_t pid, child, other;

	(void)state;
	pid = begin_command("task-clock", 1000);
	other = perf_sim_fork(pid);
	child = run_in_kernel(pid, 4);
	run_work(other, USER, 50 * MS, 50 * MS);
	run_drain(&run);
	perf_sim_exit(other);
	perf_sim_exit(child);
	run_stop(&run);
	assert_int_equal(run_account(&run, 0).total_weight, 170 * MS);
	assert_in_range(run_weight_of(&run, child), 119 * MS, 120 * MS);
	assert_int_equal(run_weight_of(&run, other), 0);
}

/* What follows is of the program that it executes, of which there is no sample. */
static void a_program_is_not_told_by_the_one_before(void **state)
{
	int64_t pid;

	(void)state;
	pid = begin_command("task-clock", 1000);
	run_work(pid, USER, 10 * MS, 0);
	run_drain(&run);
	perf_sim_exec(pid, "other");
	run_work(pid, USER, 200 * MS, 200 * MS);
	run_drain(&run);
	run_stop(&run);
	assert_int_equal(run_account(&run, 0).total_weight, 210 * MS);
	assert_in_range(run_weight_of(&run, pid), 9 * MS, 11 * MS);
}

/* However long it had slept before. */
static void a_thread_that_slept_long_is_read_on(void **state)
{
	int64_t pid, child;

	(void)state;
	pid = begin_command("task-clock", 1000);
	child = run_in_kernel(pid, 4);
	for (unsigned i = 0; i < 60; i++) {
		perf_sim_idle(1000 * MS);
		run_drain(&run);
	}
	for (unsigned i = 0; i < 15; i++) {
		run_work(child, USER, 1000 * MS, 1000 * MS);
		run_drain(&run);
	}
	perf_sim_exit(child);
	run_drain(&run);
	run_stop(&run);
	assert_int_equal(run_account(&run, 0).total_weight, 15120 * MS);
	assert_in_range(run_weight_of(&run, child), 14000 * MS, 15120 * MS);
}

/* More threads than are asked at a start begin while it is stopped. */
static void a_clock_goes_on_after_a_stop_among_many(void **state)
{
	int64_t thread;

	(void)state;
	open_and_start("task-clock", 1000);
	thread = perf_sim_thread(0);
	run_work(thread, USER, 50 * MS, 0);
	run_stop(&run);
	for (unsigned i = 0; i < 300; i++)
		perf_sim_thread(0);
	run_start(&run);
	for (unsigned i = 0; i < 10; i++) {
		run_work(thread, USER, 20 * MS, 0);
		run_drain(&run);
	}
	run_stop(&run);
	check_closure(250 * MS, 1, 2 * MS);
}

/* Where the kernel is sampled the last samples are where its time is. */
static void where_the_kernel_is_sampled_nothing_is_added(void **state)
{
	int64_t pid;

	(void)state;
	perf_sim_machine.paranoid = 1;
	pid = begin_command("task-clock", 1000);
	run_work(pid, USER, 10 * MS + 700 * US, 0);
	run_drain(&run);
	run_stop(&run);
	assert_int_equal(run_samples(&run, 0), 10);
}

static struct ppi_account lose_some(uint64_t required_caps)
{
	int64_t pid;

	run.plan.required_caps = required_caps;
	pid = begin_command("task-clock", 1000);
	run_work(pid, USER, 20 * MS, 0);
	perf_sim_lose(15);
	run_work(pid, USER, 20 * MS, 0);
	run_stop(&run);
	check_closure(40 * MS, 1, MS);
	return run_account(&run, 0);
}

static void what_is_lost_is_in_the_next_samples(void **state)
{
	struct ppi_account account = lose_some(PORTPROF_CAP_LOST_EXACT);

	(void)state;
	assert_int_equal(account.lost_samples, 15);
	assert_int_equal(account.lost_certainty, PORTPROF_EXACT);
}

/* A command's threads have one event each, which reports code, too: what it lost
 * may be either. */
static void of_one_event_a_thread_lost_samples_are_not_told_apart(void **state)
{
	struct ppi_account account = lose_some(0);

	(void)state;
	assert_false(perf_state_of(&run.bs)->sides->has_carriers);
	assert_int_equal(account.lost_samples, 0);
	assert_int_equal(account.lost_certainty, PORTPROF_UNKNOWN);
	assert_true(run_has_note(&run, "15 records were lost, samples or"));
}

static void time_between_stop_and_start_is_nobodys(void **state)
{
	int64_t thread;

	(void)state;
	open_and_start("task-clock", 1000);
	thread = perf_sim_thread(0);
	for (unsigned i = 0; i < 10; i++) {
		run_work(thread, USER, 10 * MS + 10 * US, 0);
		run_stop(&run);
		run_work(thread, USER, 70 * MS, 0);
		run_start(&run);
	}
	run_stop(&run);
	check_closure(100 * MS + 100 * US, 1, MS);
}

/* More than are asked at a start. */
static void of_many_threads_each_has_its_own(void **state)
{
	enum { MANY = 300 };
	int64_t tids[MANY];
	uint64_t all = 0;

	(void)state;
	for (unsigned i = 0; i < MANY; i++) {
		tids[i] = perf_sim_thread(0);
		run_work(tids[i], USER, i * MS, 0);
	}
	open_and_start("task-clock", 1000);
	for (unsigned turn = 0; turn < 3; turn++) {
		for (unsigned i = 0; i < MANY; i++) {
			uint64_t ns = (1 + i % 7) * MS + 100 * US;

			run_work(tids[i], USER, ns, ns / 4);
			all += ns;
		}
		run_drain(&run);
	}
	run_stop(&run);
	check_closure(all, MANY, 2 * MS);
}

/* Two clocks are weighed apart. */
static void each_clock_has_its_own_weights(void **state)
{
	int64_t pid;

	(void)state;
	perf_sim_machine.is_privileged = false;
	assert_int_equal(run_add(&run, "cpu-clock", 500), PORTPROF_OK);
	pid = begin_command("task-clock", 1000);
	for (unsigned i = 0; i < 10; i++) {
		run_work(pid, USER, 33 * MS, 9 * MS);
		run_drain(&run);
	}
	run_stop(&run);
	assert_in_range(run_weight(&run, 0), 328 * MS, 330 * MS);
	assert_in_range(run_weight(&run, 1), 329 * MS, 330 * MS);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fresh, nothing_is_held)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(switches_of_a_command_stop_no_event),
		CASE(switches_of_the_own_threads_stop_no_event),
		CASE(switches_under_sampled_cpus_stop_no_event),
		CASE(page_faults_beside_a_clock_stop_no_event),
		CASE(samples_that_read_stop_events),
		CASE(kernel_time_is_in_the_threads_own_samples),
		CASE(the_clock_of_a_thread_that_ended_is_unknown),
		CASE(kernel_time_at_a_threads_end_is_in_its_last_samples),
		CASE(kernel_time_behind_a_threads_last_sample_is_one_more),
		CASE(a_thread_that_stood_gets_no_more_than_was_counted),
		CASE(a_thread_without_a_sample_stays_unattributed),
		CASE(a_program_is_not_told_by_the_one_before),
		CASE(a_thread_that_slept_long_is_read_on),
		CASE(a_clock_goes_on_after_a_stop_among_many),
		CASE(where_the_kernel_is_sampled_nothing_is_added),
		CASE(what_is_lost_is_in_the_next_samples),
		CASE(of_one_event_a_thread_lost_samples_are_not_told_apart),
		CASE(time_between_stop_and_start_is_nobodys),
		CASE(of_many_threads_each_has_its_own),
		CASE(each_clock_has_its_own_weights),
	};

	return cmocka_run_group_tests_name("perf_clocks", tests, NULL, NULL);
}
