/* SPDX-License-Identifier: MIT */
/*
 * Processes shorter than a period, and what others use after their last sample:
 * estimated by samples of the CPUs, on a simulated kernel.
 */
#include "tests/unit/perf_case.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

enum { CHILDREN = 2000, FIRST = 0x1000, SECOND = 0x2000, STRANGE = 0x9000 };

static uint64_t next_random(uint64_t below)
{
	static uint64_t x = 88172645463325252u;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x % below;
}

/* A command that has begun; children are followed. Its CPU time alone would be
 * sampled by CPUs (perf_family.c), so another event is beside it. */
static int64_t begin(const char *event, uint64_t rate_hz)
{
	int64_t pid = perf_sim_fork(0);

	run.plan.target = (struct ppi_target){
		.kind = PPI_TARGET_COMMAND, .pid = pid,
		.tid = 0, .is_self = false,
	};
	run.plan.follow_children = true;
	assert_int_equal(run_add(&run, event, rate_hz), PORTPROF_OK);
	open_and_start("page-faults:period=1", 0);
	perf_sim_exec(pid, "make");
	return pid;
}

static uint64_t weight_at(uint64_t pc)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < run.record_count; i++)
		if (run.records[i].kind == PORTPROF_RECORD_SAMPLE &&
		    run.records[i].address == pc)
			sum += run.records[i].weight;
	return sum;
}

/* Each is another program; time passes, in which it is others' turn. */
static uint64_t run_children(int64_t parent, uint64_t shortest_us,
                             uint64_t longest_us)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < CHILDREN; i++) {
		int64_t child = perf_sim_fork(parent);
		uint64_t first = (shortest_us + next_random(
			longest_us - shortest_us)) * US / 4;

		perf_sim_exec(child, "cc1");
		run_work(child, FIRST, first, 0);
		run_work(child, SECOND, 3 * first, 0);
		all += 4 * first;
		perf_sim_exit(child);
		perf_sim_idle(next_random(2000) * US);
		if (i % 50 == 0 || shortest_us > 10000)
			run_drain(&run);
	}
	assert_int_equal(run_account(&run, 0).lost_samples, 0);
	return all;
}

/* Within four standard errors. */
static void assert_near(uint64_t estimate, uint64_t truth, double variance)
{
	double distance = (double)estimate - (double)truth;

	assert_true(distance * distance <= 16 * variance);
}

static void short_processes_are_estimated(void **state)
{
	int64_t pid = begin("task-clock", 1000);
	struct ppi_account account;
	uint64_t all;

	(void)state;
	all = run_children(pid, 100, 900);
	run_stop(&run);
	account = run_account(&run, 0);
	assert_int_equal(account.total_weight, all);
	assert_int_equal(account.total_certainty, PORTPROF_EXACT);
	assert_true(account.is_estimate);
	assert_near(run_weight(&run, 0), all, account.variance);
	/* the variance of a part is that part of it */
	assert_near(weight_at(FIRST), all / 4, account.variance / 4);
	assert_near(weight_at(SECOND), all * 3 / 4, account.variance * 3 / 4);
	/* an error of a few parts in a hundred */
	assert_true(account.variance < 0.003 * (double)all * (double)all);
}

/* Two periods and some: the own samples of all of them come at the same times
 * after their beginning, and always in the second function. */
static void like_processes_are_estimated(void **state)
{
	int64_t pid = begin("task-clock", 1000);
	struct ppi_account account;
	uint64_t all;

	(void)state;
	all = run_children(pid, 2000, 2999);
	run_stop(&run);
	account = run_account(&run, 0);
	assert_int_equal(account.total_weight, all);
	assert_near(run_weight(&run, 0), all, account.variance);
	assert_near(weight_at(FIRST), all / 4, account.variance / 4);
	assert_near(weight_at(SECOND), all * 3 / 4, account.variance * 3 / 4);
}

/* Many periods: what they use once they are old is exact. */
static void old_processes_are_exact_but_for_their_ends(void **state)
{
	int64_t pid = begin("task-clock", 1000);
	struct ppi_account account;
	uint64_t all;

	(void)state;
	all = run_children(pid, 60000, 62000);
	run_stop(&run);
	account = run_account(&run, 0);
	assert_int_equal(account.total_weight, all);
	assert_near(run_weight(&run, 0), all, account.variance);
	assert_true(account.variance < 20.0 * CHILDREN * (double)MS *
	                               (double)MS);
}

static void long_threads_are_exact(void **state)
{
	int64_t pid = begin("task-clock", 1000);
	struct ppi_account account;

	(void)state;
	perf_sim_machine.migrates = true;
	for (unsigned i = 0; i < 50; i++)
		run_work(pid, FIRST, 7 * MS + 123 * US, 0);
	run_drain(&run);
	/* not stopped: no tail has ended */
	account = run_account(&run, 0);
	assert_int_equal(account.total_weight, 50 * (7 * MS + 123 * US));
	assert_true(account.variance <= 0);
	assert_true(run_weight(&run, 0) <= account.total_weight);
	run_stop(&run);
	/* one on each CPU that it used since */
	assert_in_range(run_weight(&run, 0), account.total_weight - 4 * MS,
	                account.total_weight + 4 * MS);
	/* and it continues: nothing is counted twice */
	run_start(&run);
	for (unsigned i = 0; i < 50; i++)
		run_work(pid, FIRST, 7 * MS + 123 * US, 0);
	run_stop(&run);
	account = run_account(&run, 0);
	assert_in_range(run_weight(&run, 0), account.total_weight - 4 * MS,
	                account.total_weight + 4 * MS);
}

/* What it was before is known by what was mapped before; and that time is in
 * no sample twice. */
static void another_program_in_the_same_process(void **state)
{
	int64_t pid = begin("task-clock", 1000);
	uint64_t all = 0;

	(void)state;
	for (unsigned i = 0; i < CHILDREN; i++) {
		int64_t child = perf_sim_fork(pid);
		uint64_t each = (500 + next_random(400)) * US;

		run_work(child, FIRST, each, 0);
		perf_sim_exec(child, "ld");
		run_work(child, SECOND, each, 0);
		perf_sim_exit(child);
		all += 2 * each;
		perf_sim_idle(next_random(2000) * US);
		run_drain(&run);
	}
	run_stop(&run);
	assert_near(run_weight(&run, 0), all, (double)all * (double)MS);
	/* before the name changes, and never after */
	for (size_t i = 0; i + 1 < run.record_count; i++)
		if (run.records[i].kind == PORTPROF_RECORD_THREAD &&
		    run.records[i].valid & PORTPROF_FIELD_EXEC)
			for (size_t j = i + 1; j < run.record_count &&
			     run.records[j].tid == run.records[i].tid; j++)
				assert_true(run.records[j].address != FIRST);
}

/* What is no CPU time is sampled as ever, from the first one on. */
static void other_events_beside_keep_all_samples(void **state)
{
	uint64_t all = 0;
	int64_t pid;

	(void)state;
	pid = begin("task-clock", 1000);
	for (unsigned i = 0; i < CHILDREN; i++) {
		int64_t child = perf_sim_fork(pid);

		perf_sim_page_faults(child, FIRST, 5);
		perf_sim_exec(child, "cc1");
		run_work(child, FIRST, 500 * US, 0);
		perf_sim_page_faults(child, SECOND, 7);
		perf_sim_exit(child);
		all += 12;
		perf_sim_idle(next_random(2000) * US);
		run_drain(&run);
	}
	run_stop(&run);
	assert_int_equal(run_account(&run, 1).total_weight, all);
	assert_int_equal(run_samples(&run, 1), all);
}

/* Whoever else runs on those CPUs. */
static void others_are_not_in_the_profile(void **state)
{
	int64_t stranger = perf_sim_fork(0);
	int64_t pid = begin("task-clock", 1000);
	uint64_t all = 0;

	(void)state;
	for (unsigned i = 0; i < CHILDREN / 4; i++) {
		int64_t child = perf_sim_fork(pid);
		int64_t other = perf_sim_fork(stranger);

		run_work(other, STRANGE, 700 * US, 0);
		run_work(stranger, STRANGE, 2700 * US, 0);
		run_work(child, FIRST, 700 * US, 0);
		all += 700 * US;
		perf_sim_exit(child);
		perf_sim_exit(other);
		run_drain(&run);
	}
	run_stop(&run);
	assert_int_equal(weight_at(STRANGE), 0);
	assert_int_equal(run_account(&run, 0).total_weight, all);
	assert_true(weight_at(FIRST) > all / 2);
}

static uint64_t run_burst(int64_t parent, unsigned children)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < children; i++) {
		int64_t child = perf_sim_fork(parent);
		uint64_t used = (300 + next_random(500)) * US;

		run_work(child, SECOND, used, 0);
		perf_sim_exit(child);
		all += used;
	}
	return all;
}

static uint64_t longest_weight_at(uint64_t pc)
{
	uint64_t longest = 0;

	for (size_t i = 0; i < run.record_count; i++)
		if (run.records[i].kind == PORTPROF_RECORD_SAMPLE &&
		    run.records[i].address == pc &&
		    run.records[i].weight > longest)
			longest = run.records[i].weight;
	return longest;
}

/* Where nothing begins or ends, a sample of a CPU stands for more; each burst of
 * processes is met by such samples first, and by as many as ever after a drain. */
static void where_nothing_begins_cpus_are_sampled_less(void **state)
{
	int64_t pid = begin("task-clock", 1000);
	struct ppi_account account;
	uint64_t all = 0, fresh_all = 0, met;

	(void)state;
	all += run_burst(pid, 100);
	run_drain(&run);
	assert_true(longest_weight_at(SECOND) < 2 * MS);
	for (unsigned i = 0; i < 100; i++) {
		for (unsigned part = 0; part < 10; part++) {
			run_work(pid, FIRST, 50 * MS, 0);
			run_drain(&run);
		}
		all += run_burst(pid, 100);
		run_drain(&run);
		fresh_all += run_burst(pid, 100);
		run_drain(&run);
	}
	run_stop(&run);
	all += fresh_all;
	met = weight_at(SECOND);
	account = run_account(&run, 0);
	assert_int_equal(account.total_weight, all + 50000 * MS);
	assert_near(met, all, account.variance);
	assert_true(longest_weight_at(SECOND) > 3 * MS);
	/* as if the second of each two bursts had samples of 1 ms */
	assert_true(account.variance <
	            4.2 * (double)MS * (double)(all - fresh_all) +
	            1.5 * (double)MS * (double)fresh_all);
}

/* A command that has not begun is none of ours yet. */
static void before_its_exec_it_has_none(void **state)
{
	int64_t pid = perf_sim_fork(0);

	(void)state;
	run.plan.target = (struct ppi_target){
		.kind = PPI_TARGET_COMMAND, .pid = pid,
		.tid = 0, .is_self = false,
	};
	run.plan.follow_children = true;
	open_and_start("task-clock", 1000);
	run_work(pid, STRANGE, 50 * MS, 0);
	run_drain(&run);
	perf_sim_exec(pid, "prog");
	run_work(pid, FIRST, 10 * MS, 0);
	run_stop(&run);
	assert_int_equal(weight_at(STRANGE), 0);
	assert_int_equal(run_account(&run, 0).total_weight, 10 * MS);
}

static void where_it_is_not_permitted_it_is_said(void **state)
{
	int64_t pid;

	(void)state;
	perf_sim_machine.is_privileged = false;
	pid = begin("task-clock:u", 1000);
	assert_false(run_has_note(&run, "perf_event_paranoid"));
	run_children(pid, 100, 900);
	run_stop(&run);
	assert_int_equal(run_weight(&run, 0), 0);
	assert_false(run_account(&run, 0).is_estimate);
	assert_true(run_has_note(&run, "perf_event_paranoid"));
}

/* Neither the library's own process nor one whose children do not matter. */
static void the_own_process_is_left_alone(void **state)
{
	size_t fds;

	(void)state;
	run.plan.follow_children = true;
	open_and_start("task-clock", 1000);
	fds = perf_sim_open_fds();
	run_stop(&run);
	run_close(&run);
	run_init(&run, PPI_SAMPLE);
	open_and_start("task-clock", 1000);
	assert_int_equal(perf_sim_open_fds(), fds);
	assert_false(run_account(&run, 0).is_estimate);
}

static void nothing_is_estimated_unasked(void **state)
{
	int64_t pid;

	(void)state;
	run.plan.has_exact_children = true;
	pid = begin("task-clock", 1000);
	run_children(pid, 100, 900);
	run_stop(&run);
	assert_int_equal(run_weight(&run, 0), 0);
	assert_false(run_account(&run, 0).is_estimate);
}

#define CASE(name) \
	cmocka_unit_test_setup_teardown(name, fresh, nothing_is_held)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(short_processes_are_estimated),
		CASE(like_processes_are_estimated),
		CASE(old_processes_are_exact_but_for_their_ends),
		CASE(long_threads_are_exact),
		CASE(another_program_in_the_same_process),
		CASE(other_events_beside_keep_all_samples),
		CASE(others_are_not_in_the_profile),
		CASE(where_nothing_begins_cpus_are_sampled_less),
		CASE(before_its_exec_it_has_none),
		CASE(where_it_is_not_permitted_it_is_said),
		CASE(nothing_is_estimated_unasked),
		CASE(the_own_process_is_left_alone),
	};

	return cmocka_run_group_tests_name("perf_tails", tests, NULL, NULL);
}
