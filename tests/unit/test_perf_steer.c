/* SPDX-License-Identifier: MIT */
/* Open sessions that are given another period, or go on with fewer events: on
 * the simulated kernel, whose numbers are exact. */
#include "tests/unit/perf_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

static portprof_status steer(size_t event, enum ppi_steer what,
                             uint64_t number)
{
	return run.bs.ops->steering->steer(&run.bs, event, what, number,
	                                   &run.why);
}

static void work(uint64_t ns)
{
	run_work(perf_sim_main_tid(), 0x1000, ns, 0);
	run_drain(&run);
}

static void a_period_changes_on_the_fly(void **state)
{
	(void)state;
	open_and_start("task-clock:period=1000000", 0);
	work(50 * MS);
	assert_int_equal(run_samples(&run, 0), 50);
	assert_int_equal(steer(0, PPI_STEER_PERIOD, 5 * MS), PORTPROF_OK);
	work(50 * MS);
	run_stop(&run);
	assert_int_equal(run_samples(&run, 0), 60);
	assert_int_equal(run_weight(&run, 0), 100 * MS);
	assert_int_equal(run_account(&run, 0).granted_period, 5 * MS);
	check_closure(100 * MS, 1, 5 * MS);
	assert_true(run_has_note(&run, "another rate"));
}

/* CPU time is sampled by periods, whatever was asked for. */
static void so_does_a_rate_of_cpu_time(void **state)
{
	(void)state;
	open_and_start("task-clock", 1000);
	work(20 * MS);
	assert_int_equal(steer(0, PPI_STEER_RATE, 500), PORTPROF_OK);
	work(20 * MS);
	assert_int_equal(run_samples(&run, 0), 30);
	assert_int_equal(run_account(&run, 0).granted_period, 2 * MS);
	assert_int_equal(run_weight(&run, 0), 40 * MS);
}

static void rates_of_other_events_stay_rates(void **state)
{
	(void)state;
	perf_sim_machine.counters = 2;
	open_and_start("cycles:freq=1000", 0);
	assert_int_equal(steer(0, PPI_STEER_RATE, 250), PORTPROF_OK);
	assert_true(run_account(&run, 0).granted_hz == 250.0);
	assert_int_equal(steer(0, PPI_STEER_PERIOD, 1000),
	                 PORTPROF_E_UNSUPPORTED);
	assert_non_null(strstr(run.why.words, "set 'frequency'"));
	/* more than the kernel allows is what it allows */
	assert_int_equal(steer(0, PPI_STEER_RATE, 1000000), PORTPROF_OK);
	assert_true(run_account(&run, 0).granted_hz ==
	            (double)perf_sim_machine.rate_limit);
}

static void periods_of_other_events_stay_periods(void **state)
{
	(void)state;
	perf_sim_machine.counters = 2;
	open_and_start("cycles:period=1000000", 0);
	work(10 * MS);
	assert_int_equal(steer(0, PPI_STEER_RATE, 250),
	                 PORTPROF_E_UNSUPPORTED);
	assert_int_equal(steer(0, PPI_STEER_PERIOD, 2 * MS), PORTPROF_OK);
	work(10 * MS);
	assert_int_equal(run_samples(&run, 0), 15);
	assert_int_equal(run_weight(&run, 0), 20 * MS);
}

static void one_event_rests_while_the_other_goes_on(void **state)
{
	struct ppi_account account;

	(void)state;
	assert_int_equal(run_add(&run, "task-clock", 1000), PORTPROF_OK);
	assert_int_equal(run_add(&run, "cpu-clock", 1000), PORTPROF_OK);
	assert_int_equal(run_open(&run), PORTPROF_OK);
	run_start(&run);
	work(20 * MS);
	assert_int_equal(steer(1, PPI_STEER_ENABLED, 0), PORTPROF_OK);
	work(20 * MS);
	assert_int_equal(run_samples(&run, 1), 20);
	/* it rests over a stop and a start, too */
	run_stop(&run);
	run_start(&run);
	work(10 * MS);
	assert_int_equal(run_samples(&run, 1), 20);
	assert_int_equal(steer(1, PPI_STEER_ENABLED, 1), PORTPROF_OK);
	work(5 * MS);
	run_stop(&run);
	assert_int_equal(run_samples(&run, 0), 55);
	assert_int_equal(run_samples(&run, 1), 25);
	account = run_account(&run, 1);
	assert_int_equal(account.total_weight, 25 * MS);
	assert_true(account.is_partial);
	/* what it was not to see is not missing */
	assert_int_equal(account.not_attached, 0);
	assert_int_equal(run_account(&run, 0).total_weight, 55 * MS);
	assert_false(run_account(&run, 0).is_partial);
}

static void bound_to_a_thread(const char *event)
{
	run.plan.target.kind = PPI_TARGET_TID;
	run.plan.target.tid = perf_sim_main_tid();
	open_and_start(event, 0);
}

static void it_ends_after_so_many_samples(void **state)
{
	(void)state;
	bound_to_a_thread("task-clock:period=1000000");
	assert_int_equal(steer(0, PPI_STEER_SAMPLES_LEFT, 7), PORTPROF_OK);
	work(50 * MS);
	assert_int_equal(run_samples(&run, 0), 7);
	assert_int_equal(run_account(&run, 0).total_weight, 7 * MS);
	/* more of them, and then without an end */
	assert_int_equal(steer(0, PPI_STEER_SAMPLES_LEFT, 3), PORTPROF_OK);
	work(50 * MS);
	assert_int_equal(run_samples(&run, 0), 10);
	assert_int_equal(steer(0, PPI_STEER_ENABLED, 1), PORTPROF_OK);
	work(50 * MS);
	run_stop(&run);
	assert_int_equal(run_samples(&run, 0), 60);
	assert_int_equal(run_weight(&run, 0), 60 * MS);
}

static void samples_are_counted_where_they_can_be(void **state)
{
	(void)state;
	run.plan.follow_children = true;
	open_and_start("task-clock", 1000);
	assert_int_equal(steer(0, PPI_STEER_SAMPLES_LEFT, 7),
	                 PORTPROF_E_UNSUPPORTED);
	assert_non_null(strstr(run.why.words, "PORTPROF_TARGET_THREAD"));
	run_stop(&run);
	assert_int_equal(steer(0, PPI_STEER_SAMPLES_LEFT, 7),
	                 PORTPROF_E_STATE);
}

/* The one event that a command's threads have reports its code, too. */
static void what_reports_code_stays_on(void **state)
{
	(void)state;
	begin_command("task-clock:u", 1000);
	run_drain(&run);
	assert_int_equal(steer(0, PPI_STEER_ENABLED, 0),
	                 PORTPROF_E_UNSUPPORTED);
	assert_non_null(strstr(run.why.words, "require lost-exact"));
	run_close(&run);
	run_init(&run, PPI_SAMPLE);
	run.plan.required_caps = PORTPROF_CAP_LOST_EXACT;
	begin_command("task-clock:u", 1000);
	run_drain(&run);
	assert_int_equal(steer(0, PPI_STEER_ENABLED, 0), PORTPROF_OK);
}

static void threads_come_and_go(void **state)
{
	int64_t main_tid = perf_sim_main_tid(), other, idle;

	(void)state;
	other = perf_sim_thread(main_tid);
	idle = perf_sim_thread(main_tid);
	bound_to_a_thread("task-clock:period=1000000");
	run_work(other, 0x2000, 20 * MS, 0);
	assert_int_equal(steer(0, PPI_STEER_ADD_THREAD, (uint64_t)other),
	                 PORTPROF_OK);
	/* once more changes nothing */
	assert_int_equal(steer(0, PPI_STEER_ADD_THREAD, (uint64_t)other),
	                 PORTPROF_OK);
	run_work(other, 0x2000, 10 * MS, 0);
	run_work(idle, 0x2000, 10 * MS, 0);
	work(5 * MS);
	assert_int_equal(run_weight_of(&run, other), 10 * MS);
	assert_int_equal(run_weight_of(&run, main_tid), 5 * MS);
	assert_int_equal(run_weight_of(&run, idle), 0);
	/* the first may go, too */
	assert_int_equal(steer(0, PPI_STEER_REMOVE_THREAD, (uint64_t)main_tid),
	                 PORTPROF_OK);
	work(5 * MS);
	run_work(other, 0x2000, 10 * MS, 0);
	run_drain(&run);
	assert_int_equal(run_weight_of(&run, main_tid), 5 * MS);
	assert_int_equal(steer(0, PPI_STEER_REMOVE_THREAD, (uint64_t)other),
	                 PORTPROF_OK);
	run_drain(&run);
	assert_int_equal(run_account(&run, 0).total_weight, 25 * MS);
	assert_int_equal(steer(0, PPI_STEER_REMOVE_THREAD, (uint64_t)other),
	                 PORTPROF_E_NOTFOUND);
	/* and come back */
	assert_int_equal(steer(0, PPI_STEER_ADD_THREAD, (uint64_t)other),
	                 PORTPROF_OK);
	run_work(other, 0x2000, 3 * MS, 0);
	run_stop(&run);
	assert_int_equal(run_weight_of(&run, other), 23 * MS);
	assert_int_equal(run_account(&run, 0).total_weight, 28 * MS);
	assert_int_equal(run_account(&run, 0).not_attached, 0);
	assert_int_equal(run_account(&run, 0).cpu_time_ns, 0);
}

static void a_thread_that_is_not_there_is_refused(void **state)
{
	(void)state;
	bound_to_a_thread("task-clock:period=1000000");
	assert_int_equal(steer(0, PPI_STEER_ADD_THREAD, 999999),
	                 PORTPROF_E_NOTFOUND);
	assert_non_null(strstr(run.why.words, "no thread 999999"));
}

static void all_threads_stay_all(void **state)
{
	(void)state;
	open_and_start("task-clock", 1000);
	assert_int_equal(steer(0, PPI_STEER_REMOVE_THREAD,
	                       (uint64_t)perf_sim_main_tid()),
	                 PORTPROF_E_UNSUPPORTED);
	assert_non_null(strstr(run.why.words, "PORTPROF_TARGET_THREAD"));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fresh, nothing_is_held)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_period_changes_on_the_fly),
		CASE(so_does_a_rate_of_cpu_time),
		CASE(rates_of_other_events_stay_rates),
		CASE(periods_of_other_events_stay_periods),
		CASE(one_event_rests_while_the_other_goes_on),
		CASE(it_ends_after_so_many_samples),
		CASE(samples_are_counted_where_they_can_be),
		CASE(what_reports_code_stays_on),
		CASE(threads_come_and_go),
		CASE(a_thread_that_is_not_there_is_refused),
		CASE(all_threads_stay_all),
	};

	return cmocka_run_group_tests_name("perf_steer", tests, NULL, NULL);
}
