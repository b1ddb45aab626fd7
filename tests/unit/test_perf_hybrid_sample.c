/* SPDX-License-Identifier: MIT */
/* Sampling on a machine with two types of core: simulated, CPUs 0-1 and 2-3. */
#include "tests/unit/perf_run.h"

#include "backends/perf/events/perf_sysfs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

enum { PERIOD = 100000 };

static const char *const files[] = {
	PERF_SYSFS_PMUS "/cpu_core/type", "10\n",
	PERF_SYSFS_PMUS "/cpu_core/cpus", "0-1\n",
	PERF_SYSFS_PMUS "/cpu_atom/type", "11\n",
	PERF_SYSFS_PMUS "/cpu_atom/cpus", "2-3\n", NULL
};

static struct perf_run run;

static int fresh(void **state)
{
	(void)state;
	perf_sim_reset();
	perf_sim_machine.counters = 4;
	perf_sim_machine.is_hybrid = true;
	perf_sim_machine.files = files;
	perf_sim_machine.migrates = true;
	perf_sim_machine.slice_ns = MS;
	run_init(&run, PPI_SAMPLE);
	return 0;
}

static int nothing_is_held(void **state)
{
	(void)state;
	if (run.bs.state)
		run_close(&run);
	assert_int_equal(perf_sim_open_fds(), 0);
	assert_int_equal(perf_sim_abuses(), 0);
	return 0;
}

static void add(const char *event)
{
	assert_int_equal(run_add(&run, event, 0), PORTPROF_OK);
}

static void open_it(void)
{
	if (run_open(&run) != PORTPROF_OK)
		fail_msg("%s", run.why.words);
}

static void sample_one_thread(void)
{
	run.plan.target.kind = PPI_TARGET_TID;
	run.plan.target.tid = perf_sim_main_tid();
}

static uint64_t weight_on(uint32_t first_cpu, uint32_t last_cpu)
{
	uint64_t weight = 0;

	for (size_t i = 0; i < run.record_count; i++)
		if (run.records[i].kind == PORTPROF_RECORD_SAMPLE &&
		    run.records[i].cpu >= first_cpu &&
		    run.records[i].cpu <= last_cpu)
			weight += run.records[i].weight;
	return weight;
}

/* All of `total` was counted, and samples of both types of core stand for it,
 * but for the rest after the last of each kernel event. */
static void check_all(uint64_t total, uint64_t events)
{
	struct ppi_account account = run_account(&run, 0);

	assert_int_equal(account.total_weight, total);
	assert_int_equal(account.total_certainty, PORTPROF_EXACT);
	assert_in_range(run_weight(&run, 0), total - events * PERIOD, total);
	assert_true(weight_on(0, 1) > 0 && weight_on(2, 3) > 0);
	assert_true(run_has_note(&run, "is sampled on cpu_atom (CPUs 2-3), "
	                         "cpu_core (CPUs 0-1)"));
}

static void rings_of_cpus_take_each_cpus_event(void **state)
{
	(void)state;
	add("cycles:period=100000");
	open_it();
	assert_int_equal(perf_state_of(&run.bs)->layout, PERF_CPU_RINGS);
	/* on each CPU two rings, the event and the carrier, as where all are
	 * alike */
	assert_int_equal(perf_sim_open_fds(), 16);
	run_start(&run);
	run_work(perf_sim_main_tid(), 0x1000, 100 * MS, 0);
	run_stop(&run);
	check_all(100 * MS, 4);
}

static void rings_of_threads_have_one_of_each_type(void **state)
{
	(void)state;
	sample_one_thread();
	add("cycles:period=100000");
	open_it();
	assert_int_equal(perf_state_of(&run.bs)->layout, PERF_THREAD_RINGS);
	assert_int_equal(perf_sim_open_fds(), 3);
	run_start(&run);
	run_work(perf_sim_main_tid(), 0x1000, 100 * MS, 0);
	perf_sim_rename(perf_sim_main_tid(), "other");
	run_stop(&run);
	check_all(100 * MS, 2);
	/* told once, and not by each */
	assert_string_equal(run_name(&run, perf_sim_main_tid()), "other");
	assert_int_equal(run_kind(&run, PORTPROF_RECORD_THREAD), 2);
}

/* A kernel on which rings of CPUs would not be exact. */
static void threads_of_later_have_both(void **state)
{
	int64_t old = perf_sim_thread(0), young;

	(void)state;
	perf_sim_machine.missing = PERF_HAS_INHERIT_THREAD;
	add("cycles:period=100000");
	open_it();
	assert_int_equal(perf_state_of(&run.bs)->layout, PERF_THREAD_RINGS);
	assert_int_equal(perf_sim_open_fds(), 6);
	run_start(&run);
	run_work(old, 0x1000, 20 * MS, 0);
	young = perf_sim_thread(old);
	run_drain(&run);
	run_work(young, 0x1000, 40 * MS, 0);
	run_stop(&run);
	check_all(60 * MS, 4);
	assert_in_range(run_weight_of(&run, young), 40 * MS - 2 * PERIOD,
	                40 * MS);
}

/* What the kernel itself counts is open once, beside what is of the cores. */
static void other_events_are_open_once(void **state)
{
	(void)state;
	sample_one_thread();
	add("cycles:period=100000");
	add("task-clock:period=100000");
	open_it();
	assert_int_equal(perf_sim_open_fds(), 4);
	run_start(&run);
	run_work(perf_sim_main_tid(), 0x1000, 50 * MS, 0);
	run_stop(&run);
	check_all(50 * MS, 2);
	assert_int_equal(run_account(&run, 1).total_weight, 50 * MS);
	assert_in_range(run_weight(&run, 1), 50 * MS - PERIOD, 50 * MS);
	assert_false(run_has_note(&run, "'task-clock"));
	assert_false(run_has_note(&run, "one group"));
}

/* On the CPUs of such a type names and mappings are told all the same. */
static void a_type_without_the_event_is_told(void **state)
{
	struct ppi_account account;

	(void)state;
	perf_sim_machine.lacks_instructions = true;
	add("instructions:period=100000");
	open_it();
	/* rings, events, and what tells on the two CPUs without one */
	assert_int_equal(perf_sim_open_fds(), 14);
	run_start(&run);
	run_work(perf_sim_main_tid(), 0x1000, 100 * MS, 0);
	for (unsigned i = 0; i < 16; i++) {
		run_work(perf_sim_main_tid(), 0x1000, MS, 0);
		perf_sim_rename(perf_sim_main_tid(), i % 2 ? "odd" : "even");
	}
	run_stop(&run);
	account = run_account(&run, 0);
	assert_true(account.total_weight > 0 &&
	            account.total_weight < 232 * MS);
	assert_int_equal(weight_on(2, 3), 0);
	assert_int_equal(run_kind(&run, PORTPROF_RECORD_THREAD), 17);
	assert_true(run_has_note(&run, "is sampled on cpu_core (CPUs 0-1)"));
	assert_true(run_has_note(&run, "on cpu_atom"));
}

/* The two types' events cannot be one group. */
static void values_of_a_group_are_refused(void **state)
{
	(void)state;
	add("cycles:period=100000");
	add("instructions:period=100000");
	run.plan.sample_fields = PORTPROF_FIELD_GROUP_VALUES;
	assert_int_equal(run_open(&run), PORTPROF_E_UNSUPPORTED);
	assert_non_null(strstr(run.why.words, "'cycles:period=100000', "
	                       "an event of several core types"));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fresh, nothing_is_held)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(rings_of_cpus_take_each_cpus_event),
		CASE(rings_of_threads_have_one_of_each_type),
		CASE(threads_of_later_have_both),
		CASE(other_events_are_open_once),
		CASE(a_type_without_the_event_is_told),
		CASE(values_of_a_group_are_refused),
	};

	return cmocka_run_group_tests_name("perf_hybrid_sample", tests, NULL,
	                                   NULL);
}
