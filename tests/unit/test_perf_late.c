/* SPDX-License-Identifier: MIT */
/* Interrupts of CPUs' clocks that come when their threads have left, as they do in
 * virtual machines, on a simulated kernel. */
#include "tests/unit/perf_case.h"

#include "backends/perf/sampling/perf_late.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

extern const struct ppi_backend_ops ppi_backend_perf;

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

enum { ROUNDS = 20000, EACH_US = 17 };

#define USED ((uint64_t)ROUNDS * EACH_US * US)

static void begin(int64_t pid)
{
	run.plan.target = (struct ppi_target){
		.kind = PPI_TARGET_PID, .pid = pid,
	};
	run.plan.follow_children = true;
	open_and_start("task-clock", 1000);
}

/* Short runs, and a wait after each. */
static void bounce(int64_t tid, unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++) {
		run_work(tid, 0x1000, EACH_US * US, 0);
		perf_sim_idle((EACH_US + i % 7) * US);
		if (i % 300 == 0)
			run_drain(&run);
	}
}

static void run_and_wait(int64_t tid, uint64_t pc)
{
	run_work(tid, pc, EACH_US * US, 0);
	perf_sim_idle(EACH_US * US);
}

static bool has_left(const portprof_record *record)
{
	return record->kind == PORTPROF_RECORD_SAMPLE &&
	       record->address == PERF_SIM_SCHEDULE;
}

static uint64_t weight_of_leaving(int64_t pid)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < run.record_count; i++)
		if (has_left(&run.records[i]) &&
		    (int64_t)run.records[i].pid == pid)
			sum += run.records[i].weight;
	return sum;
}

/* All but what is too little for a sample. */
static void assert_closes(int64_t pid, uint64_t used)
{
	uint64_t weight = run_weight_of(&run, pid);

	assert_in_range(weight, used - 2 * MS, used + 2 * MS);
}

static void what_comes_late_is_laid_where_threads_leave(void **state)
{
	int64_t master = perf_sim_fork(0);
	uint64_t left;

	(void)state;
	perf_sim_machine.awake_late_ns = 10 * US;
	begin(master);
	bounce(master, ROUNDS);
	run_stop(&run);
	assert_closes(master, USED);
	left = weight_of_leaving(master);
	/* 10 of 17 us: by chance a tenth more or less */
	assert_in_range(left, USED * 10 / 17 * 8 / 10, USED * 10 / 17 * 12 / 10);
	for (size_t i = 0; i < run.record_count; i++)
		if (has_left(&run.records[i]))
			assert_true(run.records[i].weight >= MS - US);
	assert_true(run_has_note(&run, "interrupts came late"));
	assert_int_equal(run_account(&run, 0).total_weight, USED);
}

/* Of two that hand something to each other, one ends before the session. */
static void who_ends_has_its_part(void **state)
{
	int64_t master = perf_sim_fork(0), child;
	uint64_t both;

	(void)state;
	perf_sim_machine.awake_late_ns = 10 * US;
	begin(master);
	child = perf_sim_fork(master);
	for (unsigned i = 0; i < ROUNDS; i++) {
		bounce(master, 1);
		bounce(child, 1);
	}
	perf_sim_exit(child);
	run_stop(&run);
	both = run_weight_of(&run, master) + run_weight_of(&run, child);
	assert_in_range(both, USED * 2 * 95 / 100, USED * 2 * 105 / 100);
	assert_true(weight_of_leaving(child) > USED / 4);
}

static void nothing_is_sampled_where_nothing_is_missing(void **state)
{
	int64_t master = perf_sim_fork(0);

	(void)state;
	begin(master);
	bounce(master, ROUNDS);
	run_stop(&run);
	assert_false(perf_state_of(&run.bs)->late->is_on);
	assert_int_equal(weight_of_leaving(master), 0);
	assert_false(run_has_note(&run, "late"));
}

/* A leave explains 50 us: here each hides ten times as much. */
static void what_lateness_does_not_explain_stays_unattributed(void **state)
{
	enum { LEAVES = 2000 };
	int64_t master = perf_sim_fork(0);
	uint64_t left;

	(void)state;
	perf_sim_machine.awake_late_ns = 900 * US;
	begin(master);
	run_work(master, 0x1000, 500 * MS, 0);
	for (unsigned i = 0; i < LEAVES; i++) {
		run_work(master, 0x1000, 500 * US, 0);
		perf_sim_idle(1500 * US);
		run_drain(&run);
	}
	run_stop(&run);
	left = weight_of_leaving(master);
	assert_in_range(left, LEAVES * 25 * US, LEAVES * 50 * US + 5 * MS);
	assert_true(run_weight_of(&run, master) < 700 * MS);
}

/* What a full ring lost is not late. */
static void what_was_lost_is_not_laid(void **state)
{
	int64_t master = perf_sim_fork(0);

	(void)state;
	perf_sim_machine.awake_late_ns = 10 * US;
	begin(master);
	perf_sim_lose(1);
	bounce(master, ROUNDS);
	run_stop(&run);
	assert_int_equal(run_account(&run, 0).lost_samples, 1);
	assert_int_equal(weight_of_leaving(master), 0);
}

/* A place is of what was mapped then, and is told before anything else is. */
static void no_place_outlives_what_was_mapped(void **state)
{
	int64_t master = perf_sim_fork(0);
	uint64_t mapped_ns = 0;

	(void)state;
	perf_sim_machine.awake_late_ns = 10 * US;
	begin(master);
	for (unsigned i = 0; i < 100; i++) {
		bounce(master, ROUNDS / 100);
		if (i % 10 == 9)
			perf_sim_map_code(master, 0x10000 + i * 0x1000, 0x1000,
			                  "/lib/new.so", NULL);
	}
	run_stop(&run);
	assert_true(weight_of_leaving(master) > USED / 4);
	for (size_t i = 0; i < run.record_count; i++) {
		const portprof_record *record = &run.records[i];

		if (record->kind == PORTPROF_RECORD_MODULE)
			mapped_ns = record->time_ns;
		else if (has_left(record))
			assert_true(record->time_ns >= mapped_ns);
	}
}

/* What is used while nobody measures is not missing. */
static void a_pause_is_not_missing(void **state)
{
	int64_t master = perf_sim_fork(0);

	(void)state;
	perf_sim_machine.awake_late_ns = 10 * US;
	begin(master);
	bounce(master, ROUNDS / 2);
	run_stop(&run);
	run_work(master, 0x1000, 500 * MS, 0);
	run_start(&run);
	bounce(master, ROUNDS / 2);
	run_stop(&run);
	assert_closes(master, USED);
}

static void a_process_goes_on_without_its_first_thread(void **state)
{
	int64_t master = perf_sim_fork(0), thread = perf_sim_thread(master);

	(void)state;
	perf_sim_machine.awake_late_ns = 10 * US;
	begin(master);
	bounce(master, ROUNDS / 2);
	perf_sim_exit(master);
	bounce(thread, ROUNDS);
	run_stop(&run);
	assert_in_range(run_weight(&run, 0), USED * 3 / 2 - 8 * MS,
	                USED * 3 / 2 + 2 * MS);
}

/* The number of one that has ended is another's, while the last that we know has
 * places. */
static void a_number_is_given_again(void **state)
{
	int64_t master = perf_sim_fork(0), first, last;

	(void)state;
	perf_sim_machine.awake_late_ns = 10 * US;
	begin(master);
	first = perf_sim_fork(master);
	last = perf_sim_fork(master);
	bounce(first, ROUNDS / 2);
	bounce(last, ROUNDS / 2);
	perf_sim_exit(first);
	for (unsigned i = 0; i < 900; i++)
		run_and_wait(last, 0x1000);
	perf_sim_reuse(first);
	assert_int_equal(perf_sim_fork(master), first);
	bounce(perf_sim_fork(master), ROUNDS / 4);
	bounce(first, ROUNDS / 4);
	bounce(last, ROUNDS / 4);
	run_stop(&run);
	assert_in_range(run_weight(&run, 0), USED * 17 / 10, USED * 18 / 10);
}

/* The recorder's own time is not that of a group. */
static void a_group_is_only_its_processes(void **state)
{
	int64_t in = perf_sim_fork(0);

	(void)state;
	perf_sim_move(in, "/shop");
	run.plan.target = (struct ppi_target){
		.kind = PPI_TARGET_SYSTEM, .cgroup = "shop",
	};
	open_and_start("task-clock", 1000);
	bounce(in, ROUNDS);
	for (unsigned i = 0; i < 100; i++) {
		run_work(perf_sim_main_tid(), 0x9000, 10 * MS, 0);
		run_drain(&run);
	}
	assert_false(perf_state_of(&run.bs)->late->is_on);
	perf_sim_machine.awake_late_ns = 10 * US;
	bounce(in, ROUNDS);
	run_stop(&run);
	assert_in_range(run_weight_of(&run, in), USED * 19 / 10,
	                USED * 2 + 2 * MS);
	assert_true(weight_of_leaving(in) > USED / 4);
}

/* Before the first look, so that only the stop shows what is missing. */
static void nothing_is_sampled_in_a_pause(void **state)
{
	int64_t master = perf_sim_fork(0), born;

	(void)state;
	perf_sim_machine.awake_late_ns = 10 * US;
	begin(master);
	born = perf_sim_fork(master);
	for (unsigned i = 0; i < 2000; i++)
		run_and_wait(born, 0x1000);
	run_stop(&run);
	assert_false(perf_state_of(&run.bs)->late->is_on);
	for (unsigned i = 0; i < 2000; i++)
		run_and_wait(born, 0x7000);
	run_start(&run);
	bounce(born, ROUNDS);
	run_stop(&run);
	for (size_t i = 0; i < run.record_count; i++)
		if (has_left(&run.records[i]))
			assert_true(run.records[i].user_address != 0x7000);
	assert_in_range(run_weight_of(&run, born), USED * 9 / 10,
	                USED * 11 / 10 + 2 * MS);
}

/* A session that opens keeps its account, and nothing is held after any. */
static void no_fault_breaks_it(void **state)
{
	for (size_t call = 0; call < perf_sim_call_count(); call++)
		for (unsigned nth = 1; nth < 100; nth++) {
			int64_t master = perf_sim_fork(0);
			struct ppi_account account;
			bool is_whole = false;
			int error;

			perf_sim_machine.awake_late_ns = 10 * US;
			run.plan.target = (struct ppi_target){
				.kind = PPI_TARGET_PID, .pid = master,
			};
			run.plan.follow_children = true;
			assert_int_equal(run_add(&run, "task-clock", 1000),
			                 PORTPROF_OK);
			assert_true(perf_sim_fail(call, nth, 0));
			if (run_open(&run) == PORTPROF_OK) {
				is_whole = ppi_backend_perf.start(
					&run.bs, &run.why) == PORTPROF_OK;
				bounce(master, ROUNDS / 20);
				is_whole &= ppi_backend_perf.stop(
					&run.bs, &run.why) == PORTPROF_OK;
				run_drain(&run);
			}
			account = is_whole ? run_account(&run, 0)
			                   : (struct ppi_account){ 0 };
			if (is_whole && account.total_certainty == PORTPROF_EXACT)
				assert_true(run_weight(&run, 0) <
				            account.total_weight + 20 * MS);
			error = perf_sim_fault_errno();
			perf_sim_forget_fault();
			nothing_is_held(state);
			fresh(state);
			if (!error)
				break;
		}
}

#define CASE(name) \
	cmocka_unit_test_setup_teardown(name, fresh, nothing_is_held)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(what_comes_late_is_laid_where_threads_leave),
		CASE(who_ends_has_its_part),
		CASE(nothing_is_sampled_where_nothing_is_missing),
		CASE(what_lateness_does_not_explain_stays_unattributed),
		CASE(what_was_lost_is_not_laid),
		CASE(no_place_outlives_what_was_mapped),
		CASE(a_pause_is_not_missing),
		CASE(a_process_goes_on_without_its_first_thread),
		CASE(a_number_is_given_again),
		CASE(a_group_is_only_its_processes),
		CASE(nothing_is_sampled_in_a_pause),
		CASE(no_fault_breaks_it),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("perf_late", tests, NULL, NULL);
}
