/* SPDX-License-Identifier: MIT */
/* More events than counters: shared by turns, and what is said of that. */
#include "tests/pmu/lab.h"

#include <inttypes.h>
#include <string.h>

/*
 * Cortex-A57 and Neoverse-N1 have six counters that count anything, and one
 * for cycles alone (their reference manuals, PMCR.N). TURNS take a fifth of a
 * second of the guest, in which the kernel changes places each 4 ms.
 */
enum { COUNTERS = 6, GROUPS = 9, TURNS = 100000000 };

static void read_all(portprof_group **groups, portprof_count *counts)
{
	for (size_t i = 0; i < GROUPS; i++)
		lab_must(portprof_group_read(groups[i], &counts[i], 1));
}

static uint64_t scaled_by_hand(const portprof_count *count)
{
	/* 200 million turns in 0.2 s: far from 64 bits */
	assert_true(count->raw <= UINT64_MAX / count->enabled_ns);
	return count->raw * count->enabled_ns / count->running_ns;
}

static void shared_counters_are_scaled(void **state)
{
	const uint64_t truth = (uint64_t)LAB_INSTRUCTIONS * TURNS;
	portprof_group *groups[GROUPS];
	portprof_count counts[GROUPS];
	double shares = 0;

	(void)state;
	for (size_t i = 0; i < GROUPS; i++)
		groups[i] = lab_group("PMU::INST_RETIRED:u");
	lab_loop(TURNS);
	for (size_t i = 0; i < GROUPS; i++)
		lab_must(portprof_group_stop(groups[i]));
	read_all(groups, counts);
	for (size_t i = 0; i < GROUPS; i++) {
		const portprof_count *count = &counts[i];
		double share = (double)count->running_ns /
		               (double)count->enabled_ns;

		lab_say("raw %" PRIu64 " scaled %" PRIu64 " enabled %" PRIu64
		        " running %" PRIu64 " (%.1f %%)", count->raw,
		        count->scaled, count->enabled_ns, count->running_ns,
		        100 * share);
		shares += share;
		assert_int_equal(count->status, PORTPROF_COUNT_SCALED);
		assert_true(count->running_ns < count->enabled_ns);
		assert_true(count->raw < truth);
		assert_int_equal(count->scaled, scaled_by_hand(count));
		assert_in_range(count->scaled, truth / 100 * 95,
		                truth / 100 * 105);
	}
	lab_say("%d counters of which %.2f were in use", COUNTERS, shares);
	assert_true(shares > COUNTERS - 0.5 && shares < COUNTERS + 0.5);
}

/* Pinned events have theirs all the time; who came later gets none. */
static void what_never_ran_is_no_zero(void **state)
{
	portprof_group *pinned[COUNTERS], *late;
	portprof_count count;

	(void)state;
	for (size_t i = 0; i < COUNTERS; i++)
		pinned[i] = lab_group("PMU::INST_RETIRED:u:pinned");
	late = lab_group("PMU::INST_RETIRED:u");
	lab_loop(1000);
	lab_must(portprof_group_read(late, &count, 1));
	assert_int_equal(count.status, PORTPROF_COUNT_NEVER_RAN);
	assert_int_equal(count.running_ns, 0);
	assert_true(count.enabled_ns > 0);
	for (size_t i = 0; i < COUNTERS; i++) {
		lab_must(portprof_group_read(pinned[i], &count, 1));
		assert_int_equal(count.status, PORTPROF_COUNT_OK);
		assert_true(count.raw >= LAB_INSTRUCTIONS * 1000);
	}
}

static void pinned_event_in_error_is_told(void **state)
{
	portprof_group *pinned[COUNTERS + 1];
	portprof_count count;

	(void)state;
	for (size_t i = 0; i <= COUNTERS; i++)
		pinned[i] = lab_group("PMU::INST_RETIRED:u:pinned");
	lab_loop(1000);
	lab_must(portprof_group_read(pinned[COUNTERS], &count, 1));
	assert_int_equal(count.status, PORTPROF_COUNT_ERROR);
	assert_int_equal(count.scaled, 0);
	lab_must(portprof_group_read(pinned[0], &count, 1));
	assert_int_equal(count.status, PORTPROF_COUNT_OK);
}

/*
 * They could never count the same instructions. The kernel opens one event too
 * many, because it does not count a leader that is still disabled (Linux
 * drivers/perf/arm_pmu.c, validate_event): that group never runs.
 */
static void group_larger_than_the_pmu_never_runs(void **state)
{
	portprof_config *config = lab_config();
	portprof_count counts[COUNTERS + 1];
	portprof_group *group;

	(void)state;
	for (size_t i = 0; i <= COUNTERS; i++)
		lab_add_event(config, "PMU::INST_RETIRED:u");
	group = lab_open_group(config);
	lab_loop(1000);
	lab_must(portprof_group_read(group, counts, COUNTERS + 1));
	for (size_t i = 0; i <= COUNTERS; i++)
		assert_int_equal(counts[i].status, PORTPROF_COUNT_NEVER_RAN);
}

static void group_that_the_kernel_refuses_is_explained(void **state)
{
	portprof_config *config = lab_config();
	portprof_group *group = NULL;

	(void)state;
	for (size_t i = 0; i < COUNTERS + 2; i++)
		lab_add_event(config, "PMU::INST_RETIRED:u");
	assert_int_not_equal(portprof_group_open_config(config, &group),
	                     PORTPROF_OK);
	lab_say("%s", portprof_last_diag()->words);
	assert_null(group);
	assert_non_null(strstr(portprof_last_diag()->words, "group"));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		LAB_CASE(shared_counters_are_scaled),
		LAB_CASE(what_never_ran_is_no_zero),
		LAB_CASE(pinned_event_in_error_is_told),
		LAB_CASE(group_larger_than_the_pmu_never_runs),
		LAB_CASE(group_that_the_kernel_refuses_is_explained),
	};

	lab_begin(argc, argv);
	return cmocka_run_group_tests_name("pmu_share", tests, NULL, NULL);
}
