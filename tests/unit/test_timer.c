/* SPDX-License-Identifier: MIT */
/*
 * The timer backend on a simulated kernel: what the conformance suite cannot
 * ask of every backend, because only this one has timers, threads that are
 * found late, and a signal.
 */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <portprof.h>

#include "api/core/helper.h"
#include "api/core/session.h"
#include "backends/backend.h"
#include "backends/common/tick_ring.h"
#include "tests/sim/signals.h"
#include "tests/unit/timer_kit.h"

static int64_t tid_of(unsigned thread)
{
	return sim_program_thread(thread)->tid;
}

/* ---- weights ---- */

/* Found only after it has worked: its first sample stands for all of that. */
static void a_thread_found_late_loses_no_weight(void **state)
{
	uint64_t used = 9 * MS;
	int64_t tid;

	(void)state;
	start(1000);
	is_awake = false;
	sim_program_start(1);
	sim_burn(1, used);
	assert_int_equal(sim_stats(&one).delivered_samples, 0);
	is_awake = true;
	sim_program_idle(50 * MS);
	sim_burn(1, used);
	tid = tid_of(1);
	stop();
	assert_true(sim_samples_of(&one, tid) > 0);
	assert_in_range(sim_weight_of(&one, tid), 2 * used - RESOLUTION,
	                2 * used);
	assert_true(one.samples[0].weight >= used);
}

/* What it had used before start is not in it. */
static void a_thread_of_before_start_begins_at_start(void **state)
{
	(void)state;
	sim_program_start(1);
	sim_burn(1, 500 * MS);
	start(1000);
	sim_burn(1, 20 * MS);
	stop();
	assert_int_equal(sim_stats(&one).total_weight, 20 * MS);
	assert_in_range(sim_weight(&one), 20 * MS - RESOLUTION, 20 * MS);
}

/* A thread that the system did not list at start, although it was there: its
 * past is bounded by the time since start. */
static void weight_is_never_more_than_the_time_since_start(void **state)
{
	(void)state;
	sim_burn(0, 100 * MS);
	start(1000);
	sim_program_start(1);
	sim_program_thread(1)->cpu_ns = 3000 * MS; /* as if missed */
	sim_program_idle(20 * MS);
	sim_burn(1, 20 * MS);
	stop();
	assert_in_range(sim_weight_of(&one, tid_of(1)), 0, 60 * MS);
}

static void one_tick_is_one_sample_however_many_periods(void **state)
{
	(void)state;
	start(4000);
	sim_burn(0, 100 * MS);
	stop();
	assert_in_range(one.count, 24, 26);
	for (size_t i = 0; i < one.count; i++) {
		assert_int_equal(one.samples[i].samples, 1);
		assert_int_equal(one.samples[i].span, 1);
	}
	assert_true(sim_stats(&one).granted_hz == 250.0);
	assert_true(sim_has_note(&one, "the kernel checks CPU timers every"));
}

/* ---- a full ring ---- */

static void a_full_ring_counts_each_tick_and_keeps_the_weight(void **state)
{
	enum { CELLS = 8, TICKS = 50 };
	portprof_stats stats;
	uint64_t used = TICKS * (uint64_t)TIMER_SIM_TICK_NS;

	(void)state;
	assert_int_equal(sim_open(&one, "timer", 1000,
	                          CELLS * sizeof(struct ppi_pcring_cell), 0),
	                 PORTPROF_OK);
	assert_int_equal(portprof_session_start(one.session), PORTPROF_OK);
	is_awake = false;
	sim_burn(0, used);
	assert_int_equal(portprof_session_flush(one.session), PORTPROF_OK);
	stats = sim_stats(&one);
	assert_int_equal(stats.kept_samples, CELLS);
	assert_in_range(stats.lost_samples, TICKS - CELLS - 1, TICKS - CELLS);
	assert_int_equal(stats.lost_certainty, PORTPROF_EXACT);
	assert_int_equal(stats.total_weight, used);
	/* the next sample carries what the lost ones stood for */
	sim_burn(0, 20 * MS);
	stop();
	assert_in_range(sim_weight(&one), used + 20 * MS - RESOLUTION,
	                used + 20 * MS);
	assert_int_equal(sim_stats(&one).lost_samples, stats.lost_samples);
}

/* ---- threads ---- */

/* Between two looks a thread ends and another gets its id. */
static void an_id_used_again_is_another_thread(void **state)
{
	int64_t tid;

	(void)state;
	start(1000);
	sim_program_start(1);
	tid = tid_of(1);
	sim_program_idle(50 * MS);
	sim_burn(1, 40 * MS);
	is_awake = false;
	sim_program_end(1);
	sim_program_start(2);
	sim_program_thread(2)->tid = tid;
	is_awake = true;
	sim_program_idle(50 * MS);
	sim_burn(2, 40 * MS);
	stop();
	assert_in_range(sim_weight_of(&one, tid), 80 * MS - 2 * RESOLUTION,
	                80 * MS);
	assert_int_equal(sim_stats(&one).total_weight, 80 * MS);
}

static void timers_go_with_their_threads(void **state)
{
	(void)state;
	start(1000);
	for (unsigned i = 1; i < 40; i++)
		sim_program_start(i);
	sim_program_idle(50 * MS);
	assert_int_equal(timer_sim_timers(), 40);
	for (unsigned i = 1; i < 40; i++)
		sim_program_end(i);
	sim_program_idle(50 * MS);
	assert_int_equal(timer_sim_timers(), 1);
	stop();
}

/* Hundreds of threads, many at a time: entries are found and used again. */
static void thousands_of_threads_come_and_go(void **state)
{
	uint64_t used = 0;

	(void)state;
	start(1000);
	for (unsigned round = 0; round < 60; round++) {
		for (unsigned i = 1; i < FX_THREADS; i++)
			sim_program_start(i);
		sim_program_idle(20 * MS);
		sim_burn(1 + round % (FX_THREADS - 1), 10 * MS);
		used += 10 * MS;
		for (unsigned i = 1; i < FX_THREADS; i++)
			sim_program_end(i);
	}
	stop();
	assert_int_equal(sim_stats(&one).total_weight, used);
	assert_in_range(sim_weight(&one), used - 60 * RESOLUTION, used);
}

/* Shorter than a period, each: chance decides, and it is fair. */
static void short_threads_are_met_by_chance(void **state)
{
	enum { THREADS = 400, HZ = 10 }; /* 20 ms of a period of 100 ms each */

	(void)state;
	start(HZ);
	for (unsigned i = 0; i < THREADS; i++) {
		sim_program_start(1);
		sim_program_idle(20 * MS);
		sim_burn(1, 20 * MS);
		sim_program_end(1);
	}
	stop();
	assert_in_range(one.count, THREADS / 5 / 2, THREADS / 5 * 2);
}

static void a_limit_on_timers_is_noted_and_tried_again(void **state)
{
	portprof_stats stats;

	(void)state;
	timer_sim_limit(1);
	start(1000);
	sim_program_start(1);
	sim_program_idle(50 * MS);
	assert_true(sim_has_note(&one, "ulimit -i"));
	sim_burn(1, 100 * MS);
	assert_int_equal(portprof_session_flush(one.session), PORTPROF_OK);
	stats = sim_stats(&one);
	assert_int_equal(stats.total_weight, 100 * MS);
	assert_int_equal(stats.kept_weight, 0);
	assert_in_range(stats.not_attached_weight, 100 * MS - RESOLUTION,
	                100 * MS);
	timer_sim_limit(10);
	sim_program_idle(50 * MS);
	sim_burn(1, 20 * MS);
	stop();
	assert_true(sim_samples_of(&one, tid_of(1)) > 0);
}

static void without_a_single_timer_open_is_refused(void **state)
{
	(void)state;
	timer_sim_limit(0);
	assert_int_equal(sim_open(&one, "timer", 1000, 0, 0),
	                 PORTPROF_E_LIMIT);
	assert_int_equal(portprof_last_diag()->os_errno, EAGAIN);
	assert_non_null(strstr(portprof_last_diag()->words, "ulimit -i"));
	assert_int_equal(timer_sim_held(), 0);
}

/* Two threads, for two seconds each. */
static void burn_in_turns(void)
{
	for (unsigned i = 0; i < 40; i++) {
		sim_burn(1, 50 * MS);
		sim_burn(0, 50 * MS);
	}
}

static void a_deaf_thread_is_noted_and_not_attached(void **state)
{
	portprof_stats stats;

	(void)state;
	sim_program_start(1);
	sim_program_thread(1)->blocks_signals = true;
	start(1000);
	burn_in_turns();
	stop();
	stats = sim_stats(&one);
	assert_true(sim_has_note(&one, "block signal"));
	assert_int_equal(sim_weight_of(&one, tid_of(1)), 0);
	assert_int_equal(stats.total_weight, 4000 * MS);
	assert_in_range(stats.not_attached_weight, 1900 * MS, 2000 * MS);
}

/* What the system charged is the total, and threads without a timer are part of
 * it, not more. */
static void what_was_charged_has_the_unattached_in_it(void **state)
{
	portprof_stats stats;

	(void)state;
	sim_program_start(1);
	sim_program_thread(1)->blocks_signals = true;
	start(1000);
	one.session->opened.box.plan.estimates_ends = true;
	burn_in_turns();
	stop();
	assert_int_equal(portprof_session_set_number(one.session, 0, "cpu-time",
	                                             4001 * MS),
	                 PORTPROF_OK);
	stats = sim_stats(&one);
	assert_int_equal(stats.total_weight, 4001 * MS);
	assert_int_equal(stats.cpu_time_ns, 4001 * MS);
	assert_in_range(stats.not_attached_weight, 1900 * MS, 2000 * MS);
	assert_int_equal(stats.kept_weight + stats.unattributed_weight,
	                 stats.total_weight);
}

/* ---- stop ---- */

/* A tick that waits for its thread to listen comes after stop: too late. */
static void a_tick_after_stop_is_no_sample(void **state)
{
	size_t before;

	(void)state;
	sim_program_start(1);
	start(1000);
	sim_burn(1, 20 * MS);
	sim_program_thread(1)->blocks_signals = true;
	sim_burn(1, 20 * MS);
	stop();
	before = one.count;
	sim_program_thread(1)->blocks_signals = false;
	sim_burn(1, 20 * MS);
	sim_burn(0, 20 * MS);
	assert_int_equal(portprof_session_flush(one.session), PORTPROF_OK);
	assert_int_equal(one.count, before);
	assert_int_equal(sim_signals_death(), 0);
}

/* ---- a single thread ---- */

static void one_threads_total_outlives_it(void **state)
{
	portprof_stats stats;

	(void)state;
	sim_program_start(1);
	assert_int_equal(sim_open(&one, "timer", 1000, 0, tid_of(1)),
	                 PORTPROF_OK);
	assert_int_equal(portprof_session_start(one.session), PORTPROF_OK);
	sim_burn(1, 50 * MS);
	sim_burn(0, 50 * MS);
	sim_program_idle(20 * MS);
	sim_program_end(1);
	sim_burn(0, 50 * MS);
	stop();
	stats = sim_stats(&one);
	assert_int_equal(stats.total_weight, 50 * MS);
	assert_int_equal(stats.unattributed_certainty, PORTPROF_UNKNOWN);
	assert_in_range(sim_weight(&one), 50 * MS - RESOLUTION, 50 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_thread_found_late_loses_no_weight),
		CASE(a_thread_of_before_start_begins_at_start),
		CASE(weight_is_never_more_than_the_time_since_start),
		CASE(one_tick_is_one_sample_however_many_periods),
		CASE(a_full_ring_counts_each_tick_and_keeps_the_weight),
		CASE(an_id_used_again_is_another_thread),
		CASE(timers_go_with_their_threads),
		CASE(thousands_of_threads_come_and_go),
		CASE(short_threads_are_met_by_chance),
		CASE(a_limit_on_timers_is_noted_and_tried_again),
		CASE(without_a_single_timer_open_is_refused),
		CASE(a_deaf_thread_is_noted_and_not_attached),
		CASE(what_was_charged_has_the_unattached_in_it),
		CASE(a_tick_after_stop_is_no_sample),
		CASE(one_threads_total_outlives_it),
	};

	return cmocka_run_group_tests_name("timer", tests, NULL, NULL);
}
