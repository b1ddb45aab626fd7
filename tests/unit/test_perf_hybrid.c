/* SPDX-License-Identifier: MIT */
/* Counting on a machine with two types of core: simulated, CPUs 0-1 and 2-3. */
#include "tests/unit/perf_run.h"

#include "backends/perf/events/perf_sysfs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

static const char *const files[] = {
	PERF_SYSFS_PMUS "/cpu_core/type", "10\n",
	PERF_SYSFS_PMUS "/cpu_core/cpus", "0-1\n",
	PERF_SYSFS_PMUS "/cpu_atom/type", "11\n",
	PERF_SYSFS_PMUS "/cpu_atom/cpus", "2-3\n",
	PERF_SYSFS_PMUS "/uncore/type", "12\n",
	PERF_SYSFS_PMUS "/uncore/cpumask", "0\n", NULL
};

static struct perf_run run;
static portprof_count counts[RUN_EVENTS];

static int fresh(void **state)
{
	(void)state;
	perf_sim_reset();
	perf_sim_machine.counters = 4;
	perf_sim_machine.is_hybrid = true;
	perf_sim_machine.files = files;
	perf_sim_machine.migrates = true;
	perf_sim_machine.slice_ns = MS;
	run_init(&run, PPI_COUNT);
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

static void add(const char *event, size_t group)
{
	assert_int_equal(run_add(&run, event, 0), PORTPROF_OK);
	run.events[run.plan.event_count - 1].group = group;
}

static void open_and_work(uint64_t ns)
{
	if (run_open(&run) != PORTPROF_OK)
		fail_msg("%s", run.why.words);
	run_start(&run);
	run_work(perf_sim_main_tid(), 0x1000, ns, 0);
}

static void read_counts(void)
{
	assert_int_equal(run.bs.ops->count(&run.bs, counts,
	                                   run.plan.event_count),
	                 PORTPROF_OK);
}

static portprof_count part_of(size_t event, size_t part, const char *pmu)
{
	const char *name = NULL, *cpus = NULL;
	portprof_count count = { 0 };

	assert_int_equal(run.bs.ops->count_parts->part(&run.bs, event, part, &name, &cpus,
	                                   &count), PORTPROF_OK);
	assert_string_equal(name, pmu);
	assert_string_equal(cpus, strcmp(pmu, "cpu_core") ? "2-3" : "0-1");
	return count;
}

static void one_name_counts_on_every_type(void **state)
{
	portprof_count small, big;
	const char *text;

	(void)state;
	add("cycles", 0);
	add("instructions", 0);
	open_and_work(100 * MS);
	read_counts();
	assert_int_equal(counts[0].raw, 100 * MS);
	assert_int_equal(counts[1].raw, 200 * MS);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(counts[i].status, PORTPROF_COUNT_OK);
		assert_int_equal(counts[i].enabled_ns, 100 * MS);
		assert_int_equal(counts[i].running_ns, 100 * MS);
		assert_int_equal(counts[i].scaled, counts[i].raw);
	}
	small = part_of(0, 0, "cpu_atom");
	big = part_of(0, 1, "cpu_core");
	assert_true(small.raw > 0 && big.raw > 0);
	assert_int_equal(small.raw + big.raw, counts[0].raw);
	assert_int_equal(small.running_ns, small.raw);
	assert_int_equal(small.enabled_ns, 100 * MS);
	assert_int_equal(part_of(1, 0, "cpu_atom").raw, 2 * small.raw);
	assert_int_equal(run.bs.ops->count_parts->part(&run.bs, 0, 2, &text, &text, &big),
	                 PORTPROF_END);
	assert_true(run_has_note(&run, "'cycles' counts on cpu_atom (CPUs 2-3)"
	                         ", cpu_core (CPUs 0-1)"));
}

/* Eight groups for four counters, of which each type's CPUs have their own:
 * the sum is scaled, by the time that either ran. */
static void shared_counters_are_scaled_by_the_sum(void **state)
{
	(void)state;
	for (size_t i = 0; i < 8; i++)
		add("cycles", i);
	open_and_work(400 * MS);
	read_counts();
	for (size_t i = 0; i < 8; i++) {
		assert_int_equal(counts[i].status, PORTPROF_COUNT_SCALED);
		assert_int_equal(counts[i].enabled_ns, 400 * MS);
		assert_int_equal(counts[i].raw, counts[i].running_ns);
		assert_int_equal(counts[i].scaled, 400 * MS);
		/* and no part is */
		assert_int_equal(part_of(i, 0, "cpu_atom").scaled,
		                 part_of(i, 0, "cpu_atom").raw);
	}
}

static void what_the_kernel_counts_has_no_parts(void **state)
{
	const char *text;

	(void)state;
	add("task-clock", 0);
	add("cycles", 0);
	open_and_work(50 * MS);
	read_counts();
	assert_int_equal(counts[0].raw, 50 * MS);
	assert_int_equal(counts[0].enabled_ns, 50 * MS);
	assert_int_equal(counts[1].raw, 50 * MS);
	assert_int_equal(counts[0].status, PORTPROF_COUNT_OK);
	assert_int_equal(counts[1].status, PORTPROF_COUNT_OK);
	assert_false(run.bs.caps & PORTPROF_CAP_GROUP);
	assert_int_equal(run.bs.ops->count_parts->part(&run.bs, 0, 0, &text, &text, counts),
	                 PORTPROF_END);
}

static void threads_old_and_new_are_summed(void **state)
{
	int64_t old = perf_sim_thread(0);

	(void)state;
	add("cycles", 0);
	open_and_work(10 * MS);
	run_work(old, 0x1000, 20 * MS, 0);
	run_work(perf_sim_thread(old), 0x1000, 40 * MS, 0);
	read_counts();
	assert_int_equal(counts[0].raw, 70 * MS);
	assert_int_equal(counts[0].enabled_ns, 70 * MS);
	assert_int_equal(counts[0].status, PORTPROF_COUNT_OK);
}

static void a_type_without_the_event_is_told(void **state)
{
	(void)state;
	perf_sim_machine.lacks_instructions = true;
	add("instructions", 0);
	open_and_work(100 * MS);
	read_counts();
	assert_true(counts[0].raw > 0 && counts[0].raw < 200 * MS);
	assert_int_equal(part_of(0, 0, "cpu_atom").status,
	                 PORTPROF_COUNT_REFUSED);
	assert_int_equal(part_of(0, 1, "cpu_core").raw, counts[0].raw);
	assert_true(run_has_note(&run, "counts on cpu_core (CPUs 0-1)"));
	assert_true(run_has_note(&run, "on cpu_atom"));
}

static void a_thread_that_stays_on_one_type(void **state)
{
	(void)state;
	perf_sim_machine.migrates = false; /* CPU 0 */
	add("cycles", 0);
	open_and_work(10 * MS);
	read_counts();
	assert_int_equal(counts[0].raw, 10 * MS);
	assert_int_equal(counts[0].status, PORTPROF_COUNT_OK);
	assert_int_equal(part_of(0, 0, "cpu_atom").status,
	                 PORTPROF_COUNT_NEVER_RAN);
}

static void one_at_a_time_on_old_kernels(void **state)
{
	(void)state;
	perf_sim_machine.missing = PERF_HAS_INHERIT_GROUP;
	add("cycles", 0);
	add("instructions", 0);
	open_and_work(100 * MS);
	read_counts();
	assert_int_equal(counts[0].raw, 100 * MS);
	assert_int_equal(counts[1].raw, 200 * MS);
	assert_int_equal(counts[1].enabled_ns, 100 * MS);
}

/* One PMU with a list of CPUs is a machine of one type. */
static void one_type_is_not_several(void **state)
{
	static const char *const one[] = {
		PERF_SYSFS_PMUS "/armv8_pmuv3/type", "10\n",
		PERF_SYSFS_PMUS "/armv8_pmuv3/cpus", "0-3\n", NULL
	};
	const char *text;

	(void)state;
	perf_sim_machine.is_hybrid = false;
	perf_sim_machine.files = one;
	add("cycles", 0);
	open_and_work(10 * MS);
	read_counts();
	assert_int_equal(counts[0].raw, 10 * MS);
	assert_int_equal(run.bs.ops->count_parts->part(&run.bs, 0, 0, &text, &text, counts),
	                 PORTPROF_END);
	assert_int_equal(run.bs.note_count, 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fresh, nothing_is_held)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(one_name_counts_on_every_type),
		CASE(shared_counters_are_scaled_by_the_sum),
		CASE(what_the_kernel_counts_has_no_parts),
		CASE(threads_old_and_new_are_summed),
		CASE(a_type_without_the_event_is_told),
		CASE(a_thread_that_stays_on_one_type),
		CASE(one_at_a_time_on_old_kernels),
		CASE(one_type_is_not_several),
	};

	return cmocka_run_group_tests_name("perf_hybrid", tests, NULL, NULL);
}
