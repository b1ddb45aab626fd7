/* SPDX-License-Identifier: MIT */
/* Rates of clocks that would stop a machine, on the simulated kernel. */
#include "tests/unit/perf_case.h"

#include "backends/perf/kernel/perf_rate.h"
#include "tests/sim/perf_sim_state.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

/* "An interrupt takes 33 us, the period is 10": seen on a virtual machine. */
static void expect_quarter(const char *event, uint64_t rate_hz)
{
	uint64_t period;

	perf_sim_machine.interrupt_ns = 33 * US;
	open_and_start(event, rate_hz);
	period = run.events[0].period;
	assert_in_range(period, 4 * 33 * US, 5 * 33 * US);
	assert_true(run_has_note(&run, "quarter of a CPU"));
	run_work(perf_sim_main_tid(), 0x1000, 50 * MS, 0);
	run_stop(&run);
	assert_int_equal(run_account(&run, 0).granted_period, period);
	assert_int_equal(run_samples(&run, 0), 50 * MS / period);
}

static void a_rate_is_granted_up_to_a_quarter(void **state)
{
	(void)state;
	expect_quarter("task-clock", 200000);
	check_closure(50 * MS, 1, 200 * US);
}

static void a_period_likewise(void **state)
{
	(void)state;
	expect_quarter("task-clock:period=10000", 0);
	check_closure(50 * MS, 1, 200 * US);
}

static void one_mode_likewise(void **state)
{
	(void)state;
	expect_quarter("cpu-clock:u:period=20000", 0);
}

/* Not one is measured where no interrupt could matter. */
static void usual_rates_are_not_measured(void **state)
{
	(void)state;
	perf_sim_machine.interrupt_ns = 33 * US;
	open_and_start("task-clock", 1000);
	assert_int_equal(run.events[0].period, MS);
	assert_int_equal(sim.interrupt_ns, 0);
}

static void cheap_interrupts_limit_nothing(void **state)
{
	(void)state;
	perf_sim_machine.interrupt_ns = 2 * US;
	open_and_start("task-clock", 20000);
	assert_int_equal(run.events[0].period, 50 * US);
	assert_false(run_has_note(&run, "quarter"));
}

/* Nothing is known then; the kernel's own floor is left. */
static void what_cannot_be_measured(void **state)
{
	(void)state;
	perf_sim_machine.syscall_error = EACCES;
	assert_int_equal(ppi_perf_rate_grant(&perf_sim_kernel, 20 * US),
	                 20 * US);
	assert_int_equal(ppi_perf_rate_grant(&perf_sim_kernel, 1), 10 * US);
	perf_sim_machine.syscall_error = 0;
}

/* ---- it was wrong ---- */

static void run_for(unsigned seconds)
{
	for (unsigned i = 0; i < 10 * seconds; i++) {
		run_work(perf_sim_main_tid(), 0x1000, 100 * MS, 0);
		run_drain(&run);
	}
}

static void dearer_interrupts_slow_it_down(void **state)
{
	uint64_t before, period;

	(void)state;
	perf_sim_machine.interrupt_ns = 2 * US;
	open_and_start("task-clock", 10000);
	run_for(3);
	before = run_samples(&run, 0);
	assert_int_equal(before, 30000);
	assert_false(run_has_note(&run, "slowed down"));

	perf_sim_machine.interrupt_ns = 50 * US;
	run_for(3);
	period = run_account(&run, 0).granted_period;
	assert_in_range(period, 4 * 50 * US, 5 * 50 * US);
	assert_true(run_has_note(&run, "slowed down"));
	before = run_samples(&run, 0);
	run_for(1);
	assert_in_range(run_samples(&run, 0) - before,
	                1000 * MS / period - 1, 1000 * MS / period + 1);
	run_stop(&run);
	check_closure(7000 * MS, 1, period);
}

/* Longer than interrupts, shorter than a time slice: those who wake up often. */
static void busy_neighbours_are_no_interrupts(void **state)
{
	(void)state;
	perf_sim_machine.interrupt_ns = 2 * US;
	perf_sim_machine.preempted_ns = 100 * US;
	open_and_start("task-clock", 20000);
	assert_int_equal(run.events[0].period, 50 * US);
	run_for(3);
	assert_int_equal(run_samples(&run, 0), 60000);
	assert_false(run_has_note(&run, "slowed down"));
	run_stop(&run);
	check_closure(3000 * MS, 1, 50 * US);
}

/* Each fires a period and more too late: whatever one takes, it is too much. */
static void late_samples_slow_it_down(void **state)
{
	(void)state;
	perf_sim_machine.late_every = 1;
	perf_sim_machine.late_ns = 250 * US;
	open_and_start("task-clock", 10000);
	run_for(3);
	assert_true(run_account(&run, 0).granted_period >= 200 * US);
	assert_true(run_has_note(&run, "slowed down"));
	run_stop(&run);
	check_closure(3000 * MS, 1, MS);
}

/* A thread in system calls has few samples of user mode: that is no lateness,
 * nor are samples that found no room. */
static void few_samples_need_not_be_late(void **state)
{
	(void)state;
	open_and_start("task-clock:u", 10000);
	for (unsigned i = 0; i < 30; i++) {
		run_work(perf_sim_main_tid(), 0x1000, 100 * MS, 80 * MS);
		run_drain(&run);
	}
	run_stop(&run);
	assert_false(run_has_note(&run, "slowed down"));
}

static void lost_samples_need_not_be_late(void **state)
{
	(void)state;
	open_and_start("task-clock", 10000);
	for (unsigned i = 0; i < 30; i++) {
		perf_sim_lose(700);
		run_work(perf_sim_main_tid(), 0x1000, 100 * MS, 0);
		run_drain(&run);
	}
	run_stop(&run);
	assert_int_equal(run_account(&run, 0).lost_samples, 21000);
	assert_false(run_has_note(&run, "slowed down"));
}

/* At 250 ticks a second: 250 samples meet one moment of them, 100 two, 1000 four. */
static void no_rate_is_in_step_with_the_tick(void **state)
{
	static const struct {
		uint64_t rate_hz, period;
	} rates[] = {
		{ 250, 4 * MS - 31496 },  { 125, 8 * MS - 62992 },
		{ 500, 2 * MS - 15748 },  { 100, 10 * MS - 78740 },
		{ 1000, MS - 7874 },      { 101, 9900990 },
		{ 997, 1003009 },         { 251, 3984063 },
	};

	(void)state;
	perf_sim_machine.tick_ns = 4 * MS;
	for (size_t i = 0; i < sizeof(rates) / sizeof(*rates); i++)
		assert_int_equal(ppi_perf_rate_period(&perf_sim_kernel,
		                                      rates[i].rate_hz),
		                 rates[i].period);
	open_and_start("task-clock", 250);
	assert_int_equal(run.events[0].period, rates[0].period);
	run_work(perf_sim_main_tid(), 0x1000, 50 * MS, 0);
	run_stop(&run);
	check_closure(50 * MS, 1, rates[0].period);
}

static void a_period_asked_for_stays(void **state)
{
	(void)state;
	perf_sim_machine.tick_ns = 4 * MS;
	open_and_start("task-clock:period=4000000", 0);
	assert_int_equal(run.events[0].period, 4 * MS);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fresh, nothing_is_held)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_rate_is_granted_up_to_a_quarter),
		CASE(a_period_likewise),
		CASE(one_mode_likewise),
		CASE(usual_rates_are_not_measured),
		CASE(cheap_interrupts_limit_nothing),
		CASE(what_cannot_be_measured),
		CASE(dearer_interrupts_slow_it_down),
		CASE(busy_neighbours_are_no_interrupts),
		CASE(late_samples_slow_it_down),
		CASE(few_samples_need_not_be_late),
		CASE(lost_samples_need_not_be_late),
		CASE(no_rate_is_in_step_with_the_tick),
		CASE(a_period_asked_for_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
