/* SPDX-License-Identifier: MIT */
/* Samples in step with the program, by the perf backend: seen, or not taken for
 * it. */
#include "tests/unit/perf_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include "backends/perf/sampling/perf_samples.h"

#define MS UINT64_C(1000000)

/* ---- what is a rhythm ---- */

/* A program of two places, of each round `share` thousandths in the first; from
 * one sample to the next it advances by `step` ten-thousandths of a round. */
static unsigned see_rounds(unsigned step, unsigned share)
{
	struct perf_beat beat = { .tid = 0 };
	unsigned found = 0;

	for (unsigned i = 0; i < 2000; i++) {
		unsigned place = (uint64_t)i * step / 10 % 1000;

		found |= ppi_perf_beat_see(&beat, 7,
		                           place < share ? 0x1000 : 0x2000);
	}
	return found;
}

static void each_second_at_one_place_is_a_rhythm(void **state)
{
	(void)state;
	assert_int_equal(see_rounds(5000, 300), 2);
	assert_int_equal(see_rounds(15000, 300), 2);
	assert_int_equal(see_rounds(2500, 200), 4);
}

/* Or at one place for ever, which may be all there is. */
static void what_meets_all_places_is_none(void **state)
{
	(void)state;
	assert_int_equal(see_rounds(10000, 300), 0);
	assert_int_equal(see_rounds(6180, 300), 0);
	assert_int_equal(see_rounds(4950, 300), 0);
	assert_int_equal(see_rounds(9900, 600), 0);
	assert_int_equal(see_rounds(100, 500), 0);
}

static void chance_is_none(void **state)
{
	struct perf_beat beat = { .tid = 0 };
	uint64_t random = 1;

	(void)state;
	for (unsigned share = 1; share < 100; share++)
		for (unsigned i = 0; i < 5000; i++) {
			random = random * UINT64_C(6364136223846793005) + 1;
			assert_int_equal(ppi_perf_beat_see(
				&beat, 7, (random >> 33) % 100 < share
				          ? 0x1000 : 0x2000), 0);
		}
}

static void a_thread_that_ends_leaves_the_place(void **state)
{
	struct perf_beat beat = { .tid = 0 };
	unsigned found = 0;

	(void)state;
	ppi_perf_beat_see(&beat, 7, 0x1000);
	for (unsigned i = 0; i < 2000; i++)
		found |= ppi_perf_beat_see(&beat, 8, i % 2 ? 0x1000 : 0x2000);
	assert_int_equal(found, 2);
}

/* ---- in a session ---- */

static void work_in_rounds(uint64_t ns)
{
	for (uint64_t at = 0; at < 6000 * MS; at += ns) {
		run_work(perf_sim_main_tid(), 0x1000, ns * 6 / 10, 0);
		run_work(perf_sim_main_tid(), 0x2000, ns * 4 / 10, 0);
		run_drain(&run);
	}
}

static void a_session_says_so(void **state)
{
	(void)state;
	open_and_start("task-clock", 100);
	run_work(perf_sim_main_tid(), 0x1000, 5 * MS, 0);
	work_in_rounds(20 * MS);
	run_stop(&run);
	assert_true(run_has_note(&run, "in step with the program"));
}

static void a_prime_rate_is_not_in_step(void **state)
{
	uint64_t all, first = 0;

	(void)state;
	open_and_start("task-clock", 101);
	work_in_rounds(10 * MS);
	run_stop(&run);
	assert_false(run_has_note(&run, "in step with the program"));
	all = run_weight(&run, 0);
	for (size_t i = 0; i < run.record_count; i++)
		if (run.records[i].kind == PORTPROF_RECORD_SAMPLE &&
		    run.records[i].address == 0x1000)
			first += run.records[i].weight;
	assert_in_range(first * 100 / all, 58, 62);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_second_at_one_place_is_a_rhythm),
		cmocka_unit_test(what_meets_all_places_is_none),
		cmocka_unit_test(chance_is_none),
		cmocka_unit_test(a_thread_that_ends_leaves_the_place),
		cmocka_unit_test_setup_teardown(a_session_says_so, fresh,
		                                nothing_is_held),
		cmocka_unit_test_setup_teardown(a_prime_rate_is_not_in_step,
		                                fresh, nothing_is_held),
	};

	return cmocka_run_group_tests_name("perf beat", tests, NULL, NULL);
}
