/* SPDX-License-Identifier: MIT */
/*
 * The itimer backend on a simulated kernel: what the conformance suite cannot
 * ask of every backend, because only this one shares a timer and a signal
 * with all threads and with the program.
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
#include "backends/backend.h"
#include "backends/itimer/itimer.h"
#include "tests/sim/itimer_sim.h"
#include "tests/sim/session.h"
#include "tests/sim/signals.h"

#define MS UINT64_C(1000000)
#define RESOLUTION (MS + ITIMER_SIM_TICK_NS)

static struct sim_session one, two;
static uint64_t helper_ns; /* CPU time of the helper thread, each waking */

static void wake(void)
{
	if (helper_ns)
		itimer_sim_charge(helper_ns, true);
	ppi_helper_run_tasks();
}

static int set_up(void **state)
{
	(void)state;
	helper_ns = 0;
	ppi_helper_set_manual(true);
	ppi_backend_set_kernel("itimer", &itimer_sim_kernel);
	itimer_sim_reset(wake);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	sim_close(&two);
	sim_close(&one);
	for (unsigned i = 1; i < FX_THREADS; i++)
		sim_program_end(i);
	ppi_backend_set_kernel("itimer", NULL);
	ppi_helper_set_manual(false);
	return 0;
}

static void start(uint64_t hz)
{
	assert_int_equal(sim_open(&one, "itimer", hz, 0, 0), PORTPROF_OK);
	assert_int_equal(portprof_session_start(one.session), PORTPROF_OK);
}

static void stop(void)
{
	assert_int_equal(portprof_session_stop(one.session), PORTPROF_OK);
	assert_int_equal(sim_signals_death(), 0);
}

static int foreign_signals;

static void on_foreign(int signo)
{
	(void)signo;
	foreign_signals++;
}

static void set_action(void (*handler)(int))
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = handler;
	sim_signals_action(SIGPROF, &action, NULL);
}

static struct sigaction action_now(void)
{
	struct sigaction action;

	sim_signals_action(SIGPROF, NULL, &action);
	return action;
}

static void assert_busy(portprof_status status, const char *words)
{
	assert_int_equal(status, PORTPROF_E_BUSY);
	assert_non_null(strstr(portprof_last_diag()->words, words));
}

/* ---- what the program has is the program's ---- */

static void a_handler_of_the_programs_is_busy_at_open(void **state)
{
	(void)state;
	set_action(on_foreign);
	assert_busy(sim_open(&one, "itimer", 1000, 0, 0), "a handler for SIG");
	assert_ptr_equal(action_now().sa_handler, on_foreign);
	assert_int_equal(itimer_sim_every(), 0);
}

static void a_timer_of_the_programs_is_busy_at_open(void **state)
{
	(void)state;
	itimer_sim_set(7 * MS);
	assert_busy(sim_open(&one, "itimer", 1000, 0, 0), "ITIMER_PROF");
	assert_ptr_equal(action_now().sa_handler, SIG_DFL);
	assert_int_equal(itimer_sim_every(), 7 * MS);
}

static void a_handler_of_the_programs_is_busy_at_start(void **state)
{
	(void)state;
	assert_int_equal(sim_open(&one, "itimer", 1000, 0, 0), PORTPROF_OK);
	set_action(on_foreign);
	assert_busy(portprof_session_start(one.session), "taken SIGPROF");
	assert_int_equal(itimer_sim_every(), 0);
	sim_close(&one);
	assert_ptr_equal(action_now().sa_handler, on_foreign);
}

static void a_timer_of_the_programs_is_busy_at_start(void **state)
{
	(void)state;
	assert_int_equal(sim_open(&one, "itimer", 1000, 0, 0), PORTPROF_OK);
	itimer_sim_set(7 * MS);
	assert_busy(portprof_session_start(one.session), "ITIMER_PROF");
	sim_close(&one);
	assert_int_equal(itimer_sim_every(), 7 * MS);
	assert_ptr_equal(action_now().sa_handler, SIG_DFL);
}

static void a_second_session_is_busy_and_the_first_goes_on(void **state)
{
	(void)state;
	start(1000);
	sim_burn(0, 20 * MS);
	assert_busy(sim_open(&two, "itimer", 1000, 0, 0), "another session");
	sim_burn(0, 20 * MS);
	stop();
	assert_in_range(sim_weight(&one), 40 * MS - RESOLUTION, 40 * MS);
	/* not started, it has the signal all the same */
	assert_busy(sim_open(&two, "itimer", 1000, 0, 0), "another session");
	sim_close(&one);
	assert_int_equal(sim_open(&two, "itimer", 1000, 0, 0), PORTPROF_OK);
}

static void a_handler_put_over_ours_ends_sampling(void **state)
{
	(void)state;
	start(1000);
	sim_burn(0, 20 * MS);
	set_action(on_foreign);
	sim_program_idle(200 * MS);
	assert_int_equal(itimer_sim_every(), 0);
	stop();
	assert_true(sim_has_note(&one, "taken SIGPROF"));
	sim_close(&one);
	assert_ptr_equal(action_now().sa_handler, on_foreign);
}

static void a_timer_set_over_ours_is_left_alone(void **state)
{
	(void)state;
	start(1000);
	sim_burn(0, 20 * MS);
	itimer_sim_set(7 * MS);
	sim_program_idle(200 * MS);
	stop();
	assert_true(sim_has_note(&one, "taken the profiling timer"));
	assert_int_equal(itimer_sim_every(), 7 * MS);
	sim_close(&one);
	assert_int_equal(itimer_sim_every(), 7 * MS);
}

/* The same interval as the period asked for, and handler or timer first: the
 * program's timer runs on, and no tick of ours comes to its handler. */
static void a_timer_of_our_period_is_left_alone(void **state)
{
	(void)state;
	for (int is_handler_first = 0; is_handler_first < 2;
	     is_handler_first++) {
		start(1000);
		sim_burn(0, 20 * MS);
		if (is_handler_first)
			set_action(on_foreign);
		itimer_sim_set(1 * MS);
		set_action(on_foreign);
		sim_program_idle(300 * MS);
		stop();
		assert_true(sim_has_note(&one, "ended early"));
		assert_int_equal(itimer_sim_every(), 1 * MS);
		sim_close(&one);
		assert_int_equal(itimer_sim_every(), 1 * MS);
		assert_ptr_equal(action_now().sa_handler, on_foreign);
		itimer_sim_set(0);
		set_action(SIG_DFL);
	}
}

/* Our interval again, set between a look at the timer and the next call. */
static void a_timer_set_while_we_look_is_put_back(void **state)
{
	(void)state;
	start(1000);
	sim_burn(0, 20 * MS);
	itimer_sim_set_after_get(7 * MS);
	sim_program_idle(300 * MS);
	assert_int_equal(itimer_sim_every(), 7 * MS);
	stop();
	assert_int_equal(itimer_sim_every(), 7 * MS);
	assert_true(sim_has_note(&one, "ended early"));
}

/* CPU time after that is none of an attached thread's; and when the program
 * has done with its timer, the session can be started again. */
static void what_follows_is_not_attached(void **state)
{
	portprof_stats stats;

	(void)state;
	start(1000);
	sim_burn(0, 20 * MS);
	itimer_sim_set(3600000 * MS);
	sim_program_idle(300 * MS);
	sim_burn(0, 100 * MS);
	stop();
	stats = sim_stats(&one);
	assert_int_equal(stats.cpu_time_ns, 120 * MS);
	assert_in_range(stats.not_attached_weight, 100 * MS - RESOLUTION,
	                100 * MS);
	assert_int_equal(portprof_session_start(one.session), PORTPROF_E_BUSY);
	itimer_sim_set(0);
	assert_int_equal(portprof_session_start(one.session), PORTPROF_OK);
	sim_burn(0, 40 * MS);
	stop();
	stats = sim_stats(&one);
	assert_int_equal(stats.cpu_time_ns, 160 * MS);
	assert_in_range(stats.not_attached_weight, 100 * MS - RESOLUTION,
	                100 * MS);
	assert_in_range(sim_weight(&one), 60 * MS - 2 * RESOLUTION, 60 * MS);
}

/* Where the program's own handler is known, it has what is not ours. */
static void what_is_not_ours_is_forwarded(void **state)
{
	(void)state;
	start(1000);
	foreign_signals = 0;
	sim_signals_set_forward(on_foreign);
	itimer_sim_kill();
	assert_int_equal(foreign_signals, 1);
	sim_burn(0, 20 * MS);
	assert_int_equal(foreign_signals, 1);
	stop();
	assert_int_not_equal(one.count, 0);
	sim_signals_set_forward(NULL);
}

static void an_ignored_signal_is_ignored_again(void **state)
{
	(void)state;
	set_action(SIG_IGN);
	start(1000);
	itimer_sim_kill();
	sim_burn(0, 20 * MS);
	stop();
	assert_int_not_equal(one.count, 0);
	sim_close(&one);
	assert_ptr_equal(action_now().sa_handler, SIG_IGN);
}

static void a_signal_from_outside_still_ends_the_process(void **state)
{
	(void)state;
	start(1000);
	itimer_sim_kill();
	assert_int_equal(sim_signals_death(), SIGPROF);
}

/* ---- start and stop ---- */

/* Of a session before: its signal was given to a thread that did not run. */
static void an_earlier_tick_is_no_sample(void **state)
{
	(void)state;
	assert_int_equal(sim_open(&one, "itimer", 1000, 0, 0), PORTPROF_OK);
	sim_burn(0, 50 * MS);
	itimer_sim_tick_at_next_set();
	assert_int_equal(portprof_session_start(one.session), PORTPROF_OK);
	stop();
	assert_int_equal(one.count, 0);
}

/* The tick came, and its thread has not run since. After stop it is gone, and
 * cannot end a program whose handler is gone, too. */
static void a_pending_tick_is_thrown_away(void **state)
{
	(void)state;
	start(1000);
	itimer_sim_tick_in_vain();
	assert_true(itimer_sim_is_pending());
	stop();
	assert_false(itimer_sim_is_pending());
	sim_close(&one);
	sim_burn(0, 20 * MS);
	assert_int_equal(sim_signals_death(), 0);
}

/* ---- weights ---- */

static void threads_are_weighed_by_their_own_clocks(void **state)
{
	static struct fx_work works[3] = {
		{ .thread = 0, .cpu_ns = 400 * MS },
		{ .thread = 1, .function = 1, .cpu_ns = 400 * MS },
		{ .thread = 2, .function = 2, .cpu_ns = 400 * MS },
	};
	uint64_t used[3];

	(void)state;
	sim_program_start(1);
	sim_burn(1, 77 * MS); /* before start: not in it */
	start(1000);
	sim_program_start(2); /* after: all of it */
	sim_program_spend(works, 3, used);
	for (unsigned i = 0; i < 3; i++)
		assert_in_range(sim_weight_of(&one, sim_program_thread(i)->tid),
		                300 * MS, 400 * MS);
	stop();
	assert_int_equal(sim_stats(&one).total_weight, 1200 * MS);
	assert_true(sim_has_note(&one, "biased"));
	assert_int_equal(sim_stats(&one).lost_certainty, PORTPROF_UNKNOWN);
}

static void hidden_threads_are_weighed_by_the_process(void **state)
{
	(void)state;
	itimer_sim_hide_threads();
	sim_burn(0, 77 * MS);
	start(1000);
	sim_program_start(1);
	sim_burn(1, 40 * MS);
	sim_burn(0, 40 * MS);
	stop();
	assert_true(sim_has_note(&one, "of the whole process"));
	assert_in_range(sim_weight(&one), 80 * MS - RESOLUTION, 80 * MS);
	assert_int_equal(sim_stats(&one).total_weight, 80 * MS);
}

/* Ticks charge whole ticks: to the process more than it has used. */
static void samples_are_no_more_than_asked_for(void **state)
{
	enum { HZ = 100, BURSTS = 200 };
	uint64_t used = 0;

	(void)state;
	start(HZ);
	for (unsigned i = 0; i < BURSTS; i++) {
		sim_burn(0, 2 * MS);
		itimer_sim_charge(0, true); /* a tick met it all the same */
		used += 2 * MS;
	}
	stop();
	/* periods differ: 40 samples, 44 by chance, and not 120 */
	assert_in_range(one.count, 1, used * HZ / 1000000000u * 3 / 2);
	assert_in_range(sim_weight(&one), used - 25 * MS, used);
}

/* ---- the helper thread ---- */

/* It works a little each time it wakes, and that moves the timer on: not far
 * enough to wake a program that sleeps. */
static void a_sleeping_program_is_not_woken(void **state)
{
	(void)state;
	start(20); /* 50 ms, many small steps of the helper's */
	sim_program_idle(200 * MS); /* the first comes by chance */
	helper_ns = 4000;
	sim_program_idle(60000 * MS);
	helper_ns = 0;
	stop();
	assert_int_equal(itimer_sim_wakings(), 0);
	assert_int_equal(one.count, 0);
}

/* ---- the table of threads ---- */

static void the_table_keeps_threads_apart(void **state)
{
	enum { THREADS = 1000 };
	struct itimer_table table;
	bool is_new;

	(void)state;
	assert_true(ppi_itimer_table_init(&table, THREADS));
	for (long tid = 1; tid <= THREADS; tid++) {
		struct itimer_slot *slot =
			ppi_itimer_table_get(&table, tid * 64,
		                             &is_new);

		assert_non_null(slot);
		assert_true(is_new);
		slot->last_ns = (uint64_t)tid;
	}
	for (long tid = 1; tid <= THREADS; tid++) {
		struct itimer_slot *slot =
			ppi_itimer_table_get(&table, tid * 64,
		                             &is_new);

		assert_false(is_new);
		assert_int_equal(slot->last_ns, tid);
	}
	ppi_itimer_table_free(&table);
}

static void a_full_table_says_so(void **state)
{
	struct itimer_table table;
	bool is_new;
	long tid = 1;

	(void)state;
	assert_true(ppi_itimer_table_init(&table, 1));
	while (ppi_itimer_table_get(&table, tid, &is_new))
		tid++;
	assert_int_equal(tid - 1, table.mask + 1);
	assert_null(ppi_itimer_table_get(&table, tid, &is_new));
	assert_non_null(ppi_itimer_table_get(&table, tid - 1, &is_new));
	assert_false(is_new);
	ppi_itimer_table_free(&table);
}

/* More threads than the table has slots, one after the other: those that are
 * gone give theirs back. */
static void slots_of_gone_threads_are_used_again(void **state)
{
	uint64_t used = 0;

	(void)state;
	start(1000);
	for (unsigned i = 0; i < 6000; i++) {
		sim_program_start(1);
		sim_program_thread(1)->tid = 100000 + i;
		sim_burn(1, 5 * MS);
		sim_program_end(1);
		used += 5 * MS;
		if (i % 500 == 0)
			sim_program_idle(1200 * MS);
	}
	stop();
	assert_int_equal(sim_stats(&one).lost_samples, 0);
	assert_int_equal(sim_stats(&one).total_weight, used);
	assert_in_range(one.count, 5000, 8000);
}

/* Two threads that work the same, and one of them has all samples. */
static void netbsd_samples_one_thread_and_says_so(void **state)
{
	struct fx_work works[2] = { { 0, 0, 300 * MS, 0, NULL },
		                    { 1, 1, 300 * MS, 0, NULL } };
	uint64_t used[2], of_0, of_1;

	(void)state;
	itimer_sim_be_netbsd();
	sim_program_start(1);
	start(1000);
	sim_program_spend(works, 2, used);
	stop();
	of_0 = sim_weight_of(&one, sim_program_thread(0)->tid);
	of_1 = sim_weight_of(&one, sim_program_thread(1)->tid);
	assert_in_range(of_0 < of_1 ? of_0 : of_1, 0, 30 * MS);
	assert_int_equal(sim_stats(&one).total_weight, 600 * MS);
	assert_false(portprof_session_caps(one.session) & PORTPROF_CAP_FAIR);
	assert_true(sim_has_note(&one, "biased"));
}

/*
 * CLOCK_THREAD_CPUTIME_ID of thread 0 as NetBSD has it: what a thread has run
 * since it was put on a CPU is added when it leaves the CPU, and not before
 * (l_rticksum, sys/kern/kern_runq.c sched_nextlwp).
 */
static struct {
	uint64_t sum_ns, entered_ns;
} netbsd_clock;

static void leave_the_cpu(void)
{
	uint64_t now_ns = sim_program_thread(0)->cpu_ns;

	netbsd_clock.sum_ns += now_ns - netbsd_clock.entered_ns;
	netbsd_clock.entered_ns = now_ns;
}

/* Works until a clock has gone on by 60 ms, and is off the CPU for a moment
 * after the first two. */
static void burn_until_60_ms(const uint64_t *clock_ns)
{
	uint64_t until_ns = *clock_ns + 60 * MS;

	for (unsigned ms = 1; *clock_ns < until_ns; ms++) {
		sim_burn(0, MS);
		if (ms == 2)
			leave_the_cpu();
	}
}

/*
 * On a NetBSD 7.99 kernel life_3_all_samples_have_reached_their_sinks found a
 * weight of 0 for function 0. Its fixture worked until the thread's clock had
 * gone on by 60 ms, and the first switch credited all that the thread had run
 * before: no tick fell, and the total says so. Fixtures wait for the process's
 * time since.
 */
static void netbsd_ends_work_that_waits_for_a_thread_clock(void **state)
{
	uint64_t before_ns;

	(void)state;
	itimer_sim_be_netbsd();
	netbsd_clock.sum_ns = netbsd_clock.entered_ns = 0;
	sim_burn(0, 200 * MS);
	start(100);
	burn_until_60_ms(&netbsd_clock.sum_ns);
	stop();
	assert_int_equal(sim_stats(&one).total_weight, 2 * MS);
	assert_int_equal(one.count, 0);

	before_ns = sim_stats(&one).total_weight;
	assert_int_equal(portprof_session_start(one.session), PORTPROF_OK);
	burn_until_60_ms(&sim_program_thread(0)->cpu_ns);
	stop();
	assert_int_equal(sim_stats(&one).total_weight - before_ns, 60 * MS);
	assert_in_range(sim_weight_of(&one, sim_program_thread(0)->tid),
	                50 * MS, 60 * MS);
}

static void a_wrong_clock_makes_the_total_unknown(void **state)
{
	(void)state;
	start(1000);
	sim_burn(0, 100 * MS);
	assert_int_equal(sim_stats(&one).unattributed_certainty,
	                 PORTPROF_EXACT);
	itimer_sim_charge(10000 * MS, false); /* in no time at all */
	stop();
	assert_int_equal(sim_stats(&one).unattributed_certainty,
	                 PORTPROF_UNKNOWN);
	assert_true(sim_has_note(&one, "faster than real time"));
}

/* As NetBSD did: SIGPROF stayed masked for 60 to 260 ms beside a busy thread. */
static void a_session_without_ticks_has_a_note(void **state)
{
	(void)state;
	start(1000);
	sim_program_thread(0)->blocks_signals = true;
	sim_burn(0, 90 * MS);
	assert_int_equal(portprof_session_flush(one.session), PORTPROF_OK);
	assert_false(sim_has_note(&one, "no tick"));
	sim_burn(0, 60 * MS);
	stop();
	assert_int_equal(one.count, 0);
	assert_true(sim_has_note(&one, "no tick came in the first 1"));
}

/* What is sampled later stands for the time without ticks, too. */
static void one_whose_ticks_cease_has_none(void **state)
{
	(void)state;
	start(1000);
	sim_burn(0, 200 * MS);
	assert_int_equal(portprof_session_flush(one.session), PORTPROF_OK);
	sim_program_thread(0)->blocks_signals = true;
	sim_burn(0, 500 * MS);
	stop();
	assert_false(sim_has_note(&one, "no tick"));
	assert_int_equal(portprof_session_start(one.session), PORTPROF_OK);
	sim_burn(0, 500 * MS);
	stop();
	assert_true(sim_has_note(&one, "no tick"));
}

static void four_long_periods_are_no_silence(void **state)
{
	(void)state;
	start(2);
	sim_burn(0, 300 * MS);
	stop();
	assert_false(sim_has_note(&one, "no tick"));
}

/* The promise cannot be withdrawn: the last case of all. */
static void exec_is_safe_once_it_is_announced(void **state)
{
	portprof_config *config = portprof_config_new();
	portprof_session *session = NULL;

	(void)state;
	portprof_config_set_backend(config, "itimer");
	portprof_config_require(config, PORTPROF_CAP_EXEC_SAFE);
	start(1000);
	stop();
	assert_false(portprof_session_caps(one.session) &
	             PORTPROF_CAP_EXEC_SAFE);
	assert_true(sim_has_note(&one, "-lportprof-exec"));
	sim_close(&one);
	assert_int_equal(portprof_session_open(config, &session),
	                 PORTPROF_E_UNSUPPORTED);
	assert_non_null(strstr(portprof_last_diag()->words,
	                       "-lportprof-exec"));

	portprof_exec_guard();
	assert_int_equal(portprof_session_open(config, &session), PORTPROF_OK);
	assert_true(portprof_session_caps(session) & PORTPROF_CAP_EXEC_SAFE);
	portprof_config_free(config);
	for (size_t i = 0; portprof_session_note(session, i); i++)
		assert_null(strstr(portprof_session_note(session, i), "exec"));
	portprof_session_close(session);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_handler_of_the_programs_is_busy_at_open),
		CASE(a_timer_of_the_programs_is_busy_at_open),
		CASE(a_handler_of_the_programs_is_busy_at_start),
		CASE(a_timer_of_the_programs_is_busy_at_start),
		CASE(a_second_session_is_busy_and_the_first_goes_on),
		CASE(a_handler_put_over_ours_ends_sampling),
		CASE(a_timer_set_over_ours_is_left_alone),
		CASE(a_timer_of_our_period_is_left_alone),
		CASE(a_timer_set_while_we_look_is_put_back),
		CASE(what_follows_is_not_attached),
		CASE(what_is_not_ours_is_forwarded),
		CASE(an_ignored_signal_is_ignored_again),
		CASE(a_signal_from_outside_still_ends_the_process),
		CASE(an_earlier_tick_is_no_sample),
		CASE(a_pending_tick_is_thrown_away),
		CASE(threads_are_weighed_by_their_own_clocks),
		CASE(hidden_threads_are_weighed_by_the_process),
		CASE(samples_are_no_more_than_asked_for),
		CASE(a_sleeping_program_is_not_woken),
		CASE(the_table_keeps_threads_apart),
		CASE(a_full_table_says_so),
		CASE(slots_of_gone_threads_are_used_again),
		CASE(netbsd_samples_one_thread_and_says_so),
		CASE(netbsd_ends_work_that_waits_for_a_thread_clock),
		CASE(a_wrong_clock_makes_the_total_unknown),
		CASE(a_session_without_ticks_has_a_note),
		CASE(one_whose_ticks_cease_has_none),
		CASE(four_long_periods_are_no_silence),
		CASE(exec_is_safe_once_it_is_announced),
	};

	return cmocka_run_group_tests_name("itimer", tests, NULL, NULL);
}
