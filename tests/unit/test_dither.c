/* SPDX-License-Identifier: MIT */
/*
 * Programs that work in step with the sampler: their own period is that of the
 * samples, or a whole part or multiple of it. On simulated kernels, whose ticks
 * come every 4 ms.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <portprof.h>

#include "api/core/helper.h"
#include "api/core/session.h"
#include "backends/backend.h"
#include "backends/common/ticks.h"
#include "tests/sim/itimer_sim.h"
#include "tests/sim/session.h"
#include "tests/sim/signals.h"
#include "tests/sim/timer_sim.h"

#define MS UINT64_C(1000000)

enum { HZ = 100, PERIOD_MS = 10, TICK_MS = 4, SECONDS = 30 };

static struct sim_session one;

static void wake(void)
{
	ppi_helper_run_tasks();
}

static int set_up(void **state)
{
	(void)state;
	ppi_helper_set_manual(true);
	ppi_backend_set_kernel("timer", &timer_sim_kernel);
	ppi_backend_set_kernel("itimer", &itimer_sim_kernel);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	ppi_backend_set_kernel("timer", NULL);
	ppi_backend_set_kernel("itimer", NULL);
	ppi_helper_set_manual(false);
	return 0;
}

static uint64_t weight_of(unsigned function)
{
	uint64_t start, end, sum = 0;

	sim_program_range(function, &start, &end);
	for (size_t i = 0; i < one.count; i++)
		if (one.samples[i].address >= start && one.samples[i].address < end)
			sum += one.samples[i].weight;
	return sum;
}

/* Six parts of each period in function 0, four in function 1. */
static void work_in_step(uint64_t period_ns)
{
	struct fx_work works[2] = { { 0, 0, period_ns * 6 / 10, 0, 0 },
		                    { 0, 1, period_ns * 4 / 10, 0, 0 } };
	uint64_t used[1];

	for (uint64_t ns = 0; ns < SECONDS * 1000 * MS; ns += period_ns) {
		sim_program_spend(&works[0], 1, used);
		sim_program_spend(&works[1], 1, used);
	}
}

/* 3000 samples of random phase: the standard error of a share is 1.1 %. */
static void shares_are_right(const char *backend, uint64_t period_ns)
{
	/* two CPUs, whose ticks a thread misses now and then when it changes
	 * them */
	uint64_t total, most = 3 * PERIOD_MS * MS / 2 + 10 * TICK_MS * MS;
	portprof_stats stats;

	assert_int_equal(sim_open(&one, backend, HZ, 0, 0), PORTPROF_OK);
	assert_int_equal(portprof_session_start(one.session), PORTPROF_OK);
	work_in_step(period_ns);
	assert_int_equal(portprof_session_stop(one.session), PORTPROF_OK);
	stats = sim_stats(&one);
	total = sim_weight(&one);
	assert_in_range(weight_of(0) * 1000 / total, 540, 660);
	assert_int_equal(weight_of(0) + weight_of(1), total);
	/* exact weights, and as many as were asked for */
	assert_int_equal(stats.total_weight, SECONDS * 1000 * MS);
	assert_in_range(total, stats.total_weight - most, stats.total_weight);
	assert_true(stats.granted_hz == HZ);
	assert_in_range(stats.kept_samples, SECONDS * HZ * 90 / 100,
	                SECONDS * HZ * 105 / 100);
	for (size_t i = 0; i < one.count; i++)
		assert_in_range(one.samples[i].weight, 1, most);
	sim_close(&one);
}

static void by_timer(void **state)
{
	static const uint64_t periods_ms[] = { 5, 10, 20, 30 };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		timer_sim_reset(wake);
		shares_are_right("timer", periods_ms[i] * MS);
	}
}

static void by_itimer(void **state)
{
	static const uint64_t periods_ms[] = { 5, 10, 20, 30 };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		itimer_sim_reset(wake);
		shares_are_right("itimer", periods_ms[i] * MS);
	}
}

/* ---- the periods themselves ---- */

static struct ppi_tick_rate rate_of(uint64_t period_ns, uint64_t tick_ns)
{
	struct ppi_event event = { .period = period_ns };

	return ppi_tick_rate_of(&event, tick_ns);
}

static void a_period_is_right_on_average_and_in_bounds(void **state)
{
	enum { DRAWS = 100000 };
	struct ppi_tick_rate rate = rate_of(10 * MS, 4 * MS);
	uint64_t sum = 0, random = 1;

	(void)state;
	for (int i = 0; i < DRAWS; i++) {
		uint64_t next = ppi_tick_rate_next(&rate, &random);

		assert_in_range(next, 5 * MS, 15 * MS);
		sum += next;
	}
	assert_in_range(sum / DRAWS, 9900000, 10100000);
}

/* From a random moment on: 1/P in the first half period, from where the
 * shortest period ends less and less. */
static void the_first_is_as_likely_at_the_beginning_as_later(void **state)
{
	enum { DRAWS = 100000 };
	struct ppi_tick_rate rate = rate_of(10 * MS, 0);
	uint64_t random = 1, counts[3] = { 0, 0, 0 };

	(void)state;
	for (int i = 0; i < DRAWS; i++) {
		uint64_t first = ppi_tick_rate_first(&rate, &random);

		assert_in_range(first, 1, 15 * MS);
		counts[(first - 1) / (5 * MS)]++;
	}
	assert_in_range(counts[0], 49000, 51000);
	assert_in_range(counts[1], 36500, 38500);
	assert_in_range(counts[2], 11500, 13500);
}

/* A tick that comes late must not be late for the next, too. */
static void near_the_kernels_tick_there_is_less_room(void **state)
{
	uint64_t random = 1;
	struct ppi_tick_rate rate = rate_of(5 * MS, 4 * MS);

	(void)state;
	assert_int_equal(rate.spread_ns, MS);
	rate = rate_of(4 * MS, 4 * MS);
	assert_int_equal(ppi_tick_rate_next(&rate, &random), 4 * MS);
	rate = rate_of(MS, 4 * MS);
	assert_int_equal(ppi_tick_rate_next(&rate, &random), MS);
}

/* ---- lives shorter than a period, as of the processes of a recorded command ---- */

static uint64_t idle_random = 88172645463325252u;

static void idle_for_a_while(void)
{
	idle_random ^= idle_random << 13;
	idle_random ^= idle_random >> 7;
	idle_random ^= idle_random << 17;
	sim_program_idle(1 + idle_random % (3 * TICK_MS * MS));
}

/* A stretch between start and stop is one life: a third of it in function 0, the
 * rest in function 1. */
static void live(uint64_t life_ns, unsigned lives)
{
	struct fx_work works[2] = { { 0, 0, life_ns / 3, 0, 0 },
		                    { 0, 1, life_ns - life_ns / 3, 0, 0 } };
	uint64_t used[1];

	for (unsigned i = 0; i < lives; i++) {
		idle_for_a_while();
		assert_int_equal(portprof_session_start(one.session),
		                 PORTPROF_OK);
		sim_program_spend(&works[0], 1, used);
		sim_program_spend(&works[1], 1, used);
		assert_int_equal(portprof_session_stop(one.session),
		                 PORTPROF_OK);
	}
}

static void is_within(uint64_t weight, uint64_t used, double sigmas,
                      uint64_t error)
{
	double off = (double)weight - (double)used;

	assert_true(off <= sigmas * (double)error &&
	            off >= -sigmas * (double)error);
}

static void open_estimating(const char *backend)
{
	assert_int_equal(sim_open(&one, backend, HZ, 0, 0), PORTPROF_OK);
	one.session->opened.box.plan.estimates_ends = true;
}

/* As much as was used, in each function, whatever part of a period a life is;
 * and as far from it as the account says, not less. */
static void lives_are_right(uint64_t life_ns)
{
	enum { LIVES = 3000 };
	uint64_t used = LIVES * life_ns;
	portprof_stats stats;

	timer_sim_reset(wake);
	open_estimating("timer");
	live(life_ns, LIVES);
	stats = sim_stats(&one);
	assert_int_equal(stats.cpu_time_ns, used);
	assert_in_range(stats.standard_error, 1, used);
	is_within(sim_weight(&one), used, 5, stats.standard_error);
	is_within(weight_of(0), used / 3, 5, stats.standard_error);
	is_within(weight_of(1), used - used / 3, 5, stats.standard_error);
	/* no more than what a life can be off, at the most */
	assert_in_range((uint64_t)((double)stats.standard_error *
	                           (double)stats.standard_error / LIVES / 1e6),
	                0, (uint64_t)(0.31 * 10000 * 10000 + 1));
	sim_close(&one);
}

static void short_lives_are_right_on_average(void **state)
{
	static const uint64_t lives_us[] = { 300, 1000, 3000, 4000, 7000,
		                             11000, 26000 };

	(void)state;
	for (size_t i = 0; i < sizeof(lives_us) / sizeof(*lives_us); i++)
		lives_are_right(lives_us[i] * 1000);
}

/* Chance says how many have a sample: as many as there are periods. */
static void the_error_is_that_of_the_samples(void **state)
{
	enum { RUNS = 200, LIVES = 40 };
	double squares = 0, told = 0;

	(void)state;
	for (int i = 0; i < RUNS; i++) {
		double off;

		timer_sim_reset(wake);
		/* or every run draws the same: a session's seed is of its clock */
		idle_for_a_while();
		open_estimating("timer");
		live(2 * MS, LIVES);
		off = (double)sim_weight(&one) - LIVES * 2e6;
		squares += off * off;
		told += (double)sim_stats(&one).standard_error *
		        (double)sim_stats(&one).standard_error;
		sim_close(&one);
	}
	/* of 200 squares the sum is within a half, by 5 sigma and more */
	assert_true(squares > told * 0.5 && squares < told * 1.5);
}

/* ITIMER_PROF comes at the kernel's second tick at the earliest: what a life uses
 * until then is in no sample. */
static void long_lives_are_right_by_itimer(void **state)
{
	enum { LIVES = 400 };
	const uint64_t life_ns = 40 * MS, used = LIVES * life_ns;

	(void)state;
	itimer_sim_reset(wake);
	open_estimating("itimer");
	live(life_ns, LIVES);
	assert_int_equal(sim_stats(&one).cpu_time_ns, used);
	assert_in_range(sim_weight(&one), used * 85 / 100, used * 105 / 100);
	assert_in_range(weight_of(0), used / 3 * 80 / 100, used / 3 * 110 / 100);
	sim_close(&one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			short_lives_are_right_on_average, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			the_error_is_that_of_the_samples, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			long_lives_are_right_by_itimer, set_up, tear_down),
		cmocka_unit_test_setup_teardown(by_timer, set_up, tear_down),
		cmocka_unit_test_setup_teardown(by_itimer, set_up, tear_down),
		cmocka_unit_test(a_period_is_right_on_average_and_in_bounds),
		cmocka_unit_test(the_first_is_as_likely_at_the_beginning_as_later),
		cmocka_unit_test(near_the_kernels_tick_there_is_less_room),
	};

	return cmocka_run_group_tests_name("dither", tests, NULL, NULL);
}
