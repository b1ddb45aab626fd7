/* SPDX-License-Identifier: MIT */
/* The signal of the timer backend: which it takes, and what others do with it. */
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
#include "backends/common/tick_ring.h"
#include "tests/sim/signals.h"
#include "tests/unit/timer_kit.h"

static int foreign_signals;

static void on_foreign(int signo)
{
	(void)signo;
	foreign_signals++;
}

static void set_action(int signo, void (*handler)(int))
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = handler;
	sim_signals_action(signo, &action, NULL);
}

static struct sigaction action_of(int signo)
{
	struct sigaction action;

	sim_signals_action(signo, NULL, &action);
	return action;
}

static void it_takes_the_highest_free_signal(void **state)
{
	(void)state;
	set_action(SIM_RT_LAST, on_foreign);
	set_action(SIM_RT_LAST - 1, SIG_IGN);
	start(1000);
	assert_ptr_equal(action_of(SIM_RT_LAST).sa_handler, on_foreign);
	assert_ptr_equal(action_of(SIM_RT_LAST - 1).sa_handler, SIG_IGN);
	assert_ptr_not_equal(action_of(SIM_RT_LAST - 2).sa_handler, SIG_DFL);
	assert_true(action_of(SIM_RT_LAST - 2).sa_flags & SA_RESTART);
	assert_true(action_of(SIM_RT_LAST - 2).sa_flags & SA_ONSTACK);
	stop();
	sim_close(&one);
	assert_ptr_equal(action_of(SIM_RT_LAST - 2).sa_handler, SIG_DFL);
}

static void without_a_free_signal_open_is_busy(void **state)
{
	(void)state;
	for (int i = SIM_RT_FIRST; i <= SIM_RT_LAST; i++)
		set_action(i, on_foreign);
	assert_int_equal(sim_open(&one, "timer", 1000, 0, 0),
	                 PORTPROF_E_BUSY);
	assert_int_equal(timer_sim_timers(), 0);
}

/* Each session has a signal of its own: what is in the way are others. */
static void the_words_blame_sessions(void **state)
{
	enum { ALL = SIM_RT_LAST - SIM_RT_FIRST + 1 };
	static struct sim_session sessions[ALL];

	(void)state;
	for (int i = 0; i < ALL; i++)
		assert_int_equal(sim_open(&sessions[i], "timer", 1000, 0, 0),
		                 PORTPROF_OK);
	assert_int_equal(sim_open(&one, "timer", 1000, 0, 0),
	                 PORTPROF_E_BUSY);
	assert_non_null(strstr(portprof_last_diag()->words,
	                       "31 of them by timer sessions"));
	for (int i = 0; i < ALL; i++)
		sim_close(&sessions[i]);
	assert_int_equal(sim_open(&one, "timer", 1000, 0, 0), PORTPROF_OK);
}

/* What the signal did before we took it was to end the process. */
static void a_signal_from_outside_still_ends_the_process(void **state)
{
	(void)state;
	start(1000);
	timer_sim_kill(SIM_RT_LAST);
	assert_int_equal(sim_signals_death(), SIM_RT_LAST);
}

static void (*chained)(int, siginfo_t *, void *);

static void on_chain(int signo, siginfo_t *info, void *context)
{
	foreign_signals++;
	chained(signo, info, context);
}

/* A handler put over ours that calls ours: its signal is its own business. */
static void a_chained_signal_of_others_does_nothing(void **state)
{
	struct sigaction over;

	(void)state;
	start(1000);
	chained = action_of(SIM_RT_LAST).sa_sigaction;
	memset(&over, 0, sizeof(over));
	over.sa_sigaction = on_chain;
	over.sa_flags = SA_SIGINFO;
	sim_signals_action(SIM_RT_LAST, &over, NULL);
	foreign_signals = 0;
	timer_sim_kill(SIM_RT_LAST);
	assert_int_equal(foreign_signals, 1);
	assert_int_equal(sim_signals_death(), 0);
}

/* A timer of the program's own that uses our signal, or a forged one. */
static void a_tag_that_is_none_of_ours_is_not_followed(void **state)
{
	siginfo_t info;

	(void)state;
	start(1000);
	for (uintptr_t tag = 0; tag < 4; tag++) {
		memset(&info, 0, sizeof(info));
		info.si_signo = SIM_RT_LAST;
		info.si_code = SI_TIMER;
		info.si_value.sival_ptr = (void *)(tag ? ~tag : 0);
		sim_signals_deliver(sim_program_thread(0), &info);
	}
	stop();
	assert_int_equal(one.count, 0);
}

/* Where the program's own handler is known, it has what is not ours: also of
 * timers of its own. */
static void what_is_not_ours_is_forwarded(void **state)
{
	siginfo_t info;

	(void)state;
	start(1000);
	sim_signals_set_forward(on_foreign);
	foreign_signals = 0;
	timer_sim_kill(SIM_RT_LAST);
	memset(&info, 0, sizeof(info));
	info.si_signo = SIM_RT_LAST;
	info.si_code = SI_TIMER;
	sim_signals_deliver(sim_program_thread(0), &info);
	assert_int_equal(foreign_signals, 2);
	sim_burn(0, 40 * MS);
	assert_int_equal(foreign_signals, 2);
	stop();
	assert_int_not_equal(one.count, 0);
	sim_signals_set_forward(NULL);
}

/* The program takes the signal while we measure: it is the program's, and we
 * have others. */
static void a_signal_taken_from_us_is_left_for_another(void **state)
{
	portprof_stats stats;

	(void)state;
	start(1000);
	sim_burn(0, 20 * MS);
	set_action(SIM_RT_LAST, on_foreign);
	sim_program_idle(20 * MS);
	foreign_signals = 0;
	sim_burn(0, 100 * MS);
	assert_int_equal(foreign_signals, 0);
	stop();
	stats = sim_stats(&one);
	assert_true(sim_has_note(&one, "sampling continues"));
	assert_int_equal(stats.cpu_time_ns, 120 * MS);
	assert_in_range(sim_weight(&one), 120 * MS - 2 * RESOLUTION, 120 * MS);
	sim_close(&one);
	assert_ptr_equal(action_of(SIM_RT_LAST).sa_handler, on_foreign);
	assert_ptr_equal(action_of(SIM_RT_LAST - 1).sa_handler, SIG_DFL);
	assert_int_equal(timer_sim_timers(), 0);
}

/* And when it takes all there are? */
static void without_another_sampling_ends(void **state)
{
	portprof_stats stats;

	(void)state;
	start(1000);
	sim_burn(0, 20 * MS);
	for (int i = SIM_RT_FIRST; i <= SIM_RT_LAST; i++)
		set_action(i, on_foreign);
	sim_program_idle(20 * MS);
	foreign_signals = 0;
	sim_burn(0, 100 * MS);
	assert_int_equal(foreign_signals, 0);
	stop();
	stats = sim_stats(&one);
	assert_true(sim_has_note(&one, "ended early"));
	assert_int_equal(stats.total_weight, 120 * MS);
	assert_in_range(stats.not_attached_weight, 100 * MS - RESOLUTION,
	                100 * MS);
	assert_int_equal(portprof_session_start(one.session),
	                 PORTPROF_E_BUSY);
	set_action(SIM_RT_FIRST, SIG_DFL);
	assert_int_equal(portprof_session_start(one.session), PORTPROF_OK);
	sim_burn(0, 20 * MS);
	sim_close(&one);
	for (int i = SIM_RT_FIRST + 1; i <= SIM_RT_LAST; i++)
		assert_ptr_equal(action_of(i).sa_handler, on_foreign);
	assert_ptr_equal(action_of(SIM_RT_FIRST).sa_handler, SIG_DFL);
	assert_int_equal(timer_sim_timers(), 0);
}

/* ---- a signal that is asked for ---- */

static portprof_status open_event(const char *event)
{
	portprof_config *config = portprof_config_new();
	portprof_status status;

	memset(&one, 0, sizeof(one));
	portprof_config_set_backend(config, "timer");
	assert_int_equal(portprof_config_add_event(config, event), PORTPROF_OK);
	status = portprof_session_open(config, &one.session);
	portprof_config_free(config);
	return status;
}

static void it_takes_the_signal_that_is_asked_for(void **state)
{
	portprof_event_info info = { .size = sizeof(info) };

	(void)state;
	assert_int_equal(open_event("task-clock:freq=100:signal=0x28"),
	                 PORTPROF_OK);
	assert_int_equal(portprof_session_event(one.session, 0, &info),
	                 PORTPROF_OK);
	assert_string_equal(info.canonical, "task-clock:freq=100:signal=40");
	assert_ptr_equal(action_of(SIM_RT_LAST).sa_handler, SIG_DFL);
	assert_ptr_not_equal(action_of(40).sa_handler, SIG_DFL);
	assert_int_equal(portprof_session_start(one.session), PORTPROF_OK);
	sim_burn(0, 100 * MS);
	stop();
	/* periods vary from half to one and a half */
	assert_in_range(sim_stats(&one).kept_samples, 6, 20);
	sim_close(&one);
	assert_ptr_equal(action_of(40).sa_handler, SIG_DFL);
	/* one that is not of the real-time ones will do, too */
	assert_int_equal(open_event("cpu-clock:signal=12"), PORTPROF_OK);
	assert_ptr_not_equal(action_of(12).sa_handler, SIG_DFL);
}

static void what_is_no_usable_signal_is_refused(void **state)
{
	static const struct {
		const char *event, *words;
	} cases[] = {
		{ "cpu-clock:signal=0", "signal=40" },
		{ "cpu-clock:signal=65", "signal=40" },
		{ "cpu-clock:signal=99999999999", "signal=40" },
		{ "cpu-clock:signal=y", "signal=40" },
		{ "cpu-clock:signal", "signal=40" },
		{ "cpu-clock:signal=9", "cannot be caught" },
		{ "cpu-clock:signal=33", "signal=40" },
		{ "cpu-clock:signal=11", "mistakes" },
		{ "cpu-clock:signal=17", "children" },
		{ "cpu-clock:signal=40:signal=41", "column 21" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(open_event(cases[i].event),
		                 PORTPROF_E_INVALID);
		assert_non_null(strstr(portprof_last_diag()->words,
		                       cases[i].words));
		assert_int_equal(timer_sim_held(), 0);
	}
}

static void a_signal_that_is_in_use_is_refused(void **state)
{
	struct sim_session other;

	(void)state;
	set_action(40, on_foreign);
	assert_int_equal(open_event("cpu-clock:signal=40"), PORTPROF_E_BUSY);
	assert_non_null(strstr(portprof_last_diag()->words,
	                       "signal 40, which the event asks for, has a "
	                       "handler"));
	assert_ptr_equal(action_of(40).sa_handler, on_foreign);
	assert_int_equal(open_event("cpu-clock:signal=41"), PORTPROF_OK);
	other = one;
	assert_int_equal(open_event("cpu-clock:signal=41"), PORTPROF_E_BUSY);
	assert_non_null(strstr(portprof_last_diag()->words,
	                       "another timer session"));
	sim_close(&other);
}

/* The program takes it: no other will do. */
static void no_other_stands_in_for_it(void **state)
{
	(void)state;
	assert_int_equal(open_event("cpu-clock:signal=40"), PORTPROF_OK);
	assert_int_equal(portprof_session_start(one.session), PORTPROF_OK);
	sim_burn(0, 20 * MS);
	set_action(40, on_foreign);
	sim_program_idle(50 * MS);
	foreign_signals = 0;
	sim_burn(0, 100 * MS);
	assert_int_equal(foreign_signals, 0);
	stop();
	assert_true(sim_has_note(&one, "no other signal is allowed"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(it_takes_the_highest_free_signal),
		CASE(without_a_free_signal_open_is_busy),
		CASE(the_words_blame_sessions),
		CASE(a_signal_from_outside_still_ends_the_process),
		CASE(a_chained_signal_of_others_does_nothing),
		CASE(a_tag_that_is_none_of_ours_is_not_followed),
		CASE(what_is_not_ours_is_forwarded),
		CASE(a_signal_taken_from_us_is_left_for_another),
		CASE(without_another_sampling_ends),
		CASE(it_takes_the_signal_that_is_asked_for),
		CASE(what_is_no_usable_signal_is_refused),
		CASE(a_signal_that_is_in_use_is_refused),
		CASE(no_other_stands_in_for_it),
	};

	return cmocka_run_group_tests_name("timer signal", tests, NULL, NULL);
}
