/* SPDX-License-Identifier: MIT */
/* Other processes, and control groups, measured by samples of the CPUs, on a
 * simulated kernel. */
#include "tests/unit/perf_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

enum { LARGEST = 4194303 }; /* PID_MAX_LIMIT - 1 */

static void begin(int64_t pid)
{
	run.plan.target = (struct ppi_target){
		.kind = PPI_TARGET_PID, .pid = pid,
	};
	run.plan.follow_children = true;
	open_and_start("task-clock", 1000);
}

/* Within four standard errors and the period that a work may end in. */
static void assert_near(int64_t tid, uint64_t truth)
{
	double off = (double)run_weight_of(&run, tid) - (double)truth;

	assert_true(off * off <= 16 * (double)truth * (double)MS);
	assert_true(run_weight_of(&run, tid) > 0);
}

/* So that nobody's work begins with a sample. */
static void work(int64_t tid, uint64_t ns)
{
	for (uint64_t done = 0; done < ns; done += 2 * MS) {
		run_work(tid, 0x1000, 2 * MS, 0);
		perf_sim_idle(MS / 3);
	}
}

/* A server whose work is done by processes that it forked long ago, or forks
 * now; nobody has an event of its own. */
static void all_that_descend_are_the_target(void **state)
{
	int64_t master = perf_sim_fork(0), stranger = perf_sim_fork(0);
	int64_t worker = perf_sim_fork(master), thread = perf_sim_thread(worker);
	int64_t late, latest;
	struct ppi_account account;
	size_t fds;

	(void)state;
	perf_sim_map_code(worker, 0x1000, 0x1000, "/bin/worker", NULL);
	begin(master);
	fds = perf_sim_open_fds();
	late = perf_sim_fork(worker);
	perf_sim_idle(1000);
	latest = perf_sim_fork(late);
	perf_sim_exec(latest, "tool");
	perf_sim_map_code(late, 0x9000, 0x1000, "/bin/late", NULL);
	perf_sim_map_code(stranger, 0x8000, 0x1000, "/bin/stranger", NULL);
	work(worker, 100 * MS);
	work(thread, 60 * MS);
	work(late, 100 * MS);
	work(latest, 200 * MS);
	work(stranger, 400 * MS);
	assert_int_equal(perf_sim_open_fds(), fds);
	run_stop(&run);
	assert_near(worker, 100 * MS);
	assert_near(thread, 60 * MS);
	assert_near(late, 100 * MS);
	assert_near(latest, 200 * MS);
	assert_int_equal(run_weight_of(&run, stranger), 0);
	assert_null(run_name(&run, stranger));
	assert_null(run_module(&run, "/bin/stranger"));
	assert_non_null(run_module(&run, "/bin/worker"));
	assert_non_null(run_module(&run, "/bin/late"));
	assert_string_equal(run_name(&run, latest), "tool");
	account = run_account(&run, 0);
	assert_true(account.is_estimate);
	assert_int_equal(account.total_weight, 460 * MS);
	assert_int_equal(account.total_certainty, PORTPROF_EXACT);
	assert_int_equal(account.cpu_time_ns, 460 * MS);
	assert_int_equal(account.idle_ns, 0);
	assert_true(run_has_note(&run, "estimates"));
}

/* What it used is in no clock any more: the samples say how much. */
static void the_total_with_those_that_ended_is_what_was_sampled(void **state)
{
	int64_t master = perf_sim_fork(0), worker;
	struct ppi_account account;

	(void)state;
	begin(master);
	worker = perf_sim_fork(master);
	work(worker, 100 * MS);
	work(master, 100 * MS);
	perf_sim_exit(worker);
	run_stop(&run);
	account = run_account(&run, 0);
	assert_int_equal(account.total_certainty, PORTPROF_UNKNOWN);
	assert_int_equal(account.total_weight, run_weight(&run, 0));
	assert_int_equal(account.not_attached, 0);
	assert_near(worker, 100 * MS);
	assert_near(master, 100 * MS);
}

/* One of the target had the number, then a stranger, then the target again. */
static void a_number_is_whose_it_is_now(void **state)
{
	int64_t master = perf_sim_fork(0), worker = perf_sim_fork(master);
	uint64_t before;

	(void)state;
	begin(master);
	work(worker, 100 * MS);
	perf_sim_exit(worker);
	run_drain(&run);
	before = run_weight_of(&run, worker);
	assert_near(worker, 100 * MS);
	perf_sim_reuse(worker);
	assert_int_equal(perf_sim_fork(0), worker);
	work(worker, 100 * MS);
	run_drain(&run);
	assert_int_equal(run_weight_of(&run, worker), before);
	perf_sim_exit(worker);
	perf_sim_reuse(worker);
	perf_sim_fork(master);
	work(worker, 100 * MS);
	run_stop(&run);
	assert_true(run_weight_of(&run, worker) > before + 60 * MS);
}

static void the_largest_number_is_one(void **state)
{
	int64_t master;

	(void)state;
	perf_sim_reuse(LARGEST);
	master = perf_sim_fork(0);
	begin(master);
	work(master, 50 * MS);
	run_stop(&run);
	assert_near(master, 50 * MS);
}

static int64_t parent, late;

static void fork_one(void)
{
	if (!late)
		late = perf_sim_fork(parent);
}

static void what_begins_while_we_look_is_known(void **state)
{
	int64_t child;

	(void)state;
	parent = perf_sim_fork(0);
	late = 0;
	perf_sim_machine.on_list = fork_one;
	begin(parent);
	assert_true(late > 0);
	perf_sim_idle(1000);
	child = perf_sim_fork(late);
	work(late, 50 * MS);
	work(child, 50 * MS);
	run_stop(&run);
	assert_near(late, 50 * MS);
	assert_near(child, 50 * MS);
}

/* More names than a ring holds, and a fork behind them. */
static void a_lost_record_is_made_up_for(void **state)
{
	int64_t master = perf_sim_fork(0), worker;

	(void)state;
	begin(master);
	for (unsigned i = 0; i < 100000; i++)
		perf_sim_rename(master, "one of many");
	worker = perf_sim_fork(master);
	run_drain(&run);
	perf_sim_idle(3000 * MS);
	run_drain(&run);
	run_drain(&run);
	work(worker, 100 * MS);
	run_stop(&run);
	assert_true(run_has_note(&run, "mappings and names were lost"));
	assert_near(worker, 100 * MS);
}

/* CPUs are not for everybody, nor for every question: then threads have events,
 * and what they count is exact. */
static void who_may_not_sample_cpus_samples_threads(void **state)
{
	(void)state;
	for (unsigned row = 0; row < 4; row++) {
		int64_t master = perf_sim_fork(0);
		int64_t worker = perf_sim_fork(master);

		perf_sim_machine.is_privileged = row != 0;
		perf_sim_machine.paranoid = 1;
		run.plan.has_exact_children = row == 1;
		run.plan.target = (struct ppi_target){
			.kind = PPI_TARGET_PID,
			.pid = row == 2 ? worker : master,
		};
		run.plan.follow_children = row != 2;
		open_and_start(row == 3 ? "page-faults" : "task-clock",
		               row == 3 ? 0 : 1000);
		assert_int_not_equal(perf_state_of(&run.bs)->layout,
		                     PERF_SYSTEM_RINGS);
		if (row != 3) {
			run_work(worker, 0x1000, 20 * MS, 0);
			run_stop(&run);
			assert_int_equal(run_weight_of(&run, worker),
			                 20 * MS);
			assert_int_equal(run_account(&run, 0).total_weight,
			                 20 * MS);
		}
		run_close(&run);
		run_init(&run, PPI_SAMPLE);
	}
}

/* Beside waits nothing is sampled: who begins and what is mapped is told by CPUs
 * alone, and no thread has an event that each switch would ask. */
static void who_samples_nothing_has_no_events_of_threads(void **state)
{
	int64_t master = perf_sim_fork(0), stranger = perf_sim_fork(0), child;
	size_t fds;

	(void)state;
	run.plan.target = (struct ppi_target){
		.kind = PPI_TARGET_COMMAND, .pid = master,
	};
	run.plan.follow_children = true;
	open_and_start("dummy:period=1", 0);
	assert_int_equal(perf_state_of(&run.bs)->layout, PERF_SYSTEM_RINGS);
	fds = perf_sim_open_fds();
	perf_sim_exec(master, "make");
	child = perf_sim_fork(master);
	perf_sim_exec(child, "cc");
	perf_sim_map_code(child, 0x9000, 0x1000, "/bin/cc", NULL);
	perf_sim_map_code(stranger, 0x8000, 0x1000, "/bin/stranger", NULL);
	run_work(child, 0x9000, 20 * MS, 0);
	assert_int_equal(perf_sim_open_fds(), fds);
	run_stop(&run);
	assert_string_equal(run_name(&run, child), "cc");
	assert_non_null(run_module(&run, "/bin/cc"));
	assert_null(run_module(&run, "/bin/stranger"));
	assert_int_equal(run_weight(&run, 0), 0);
	assert_false(run_has_note(&run, "estimates"));
}

static void nobody_is_no_target(void **state)
{
	(void)state;
	run.plan.target = (struct ppi_target){
		.kind = PPI_TARGET_PID, .pid = LARGEST - 1,
	};
	run.plan.follow_children = true;
	assert_int_equal(run_add(&run, "task-clock", 1000), PORTPROF_OK);
	assert_int_equal(run_open(&run), PORTPROF_E_NOTFOUND);
}

static void begin_group(const char *group)
{
	run.plan.target = (struct ppi_target){
		.kind = PPI_TARGET_SYSTEM, .cgroup = group,
	};
	open_and_start("task-clock", 1000);
}

/* However the group is written: who is in it or below, who comes and who leaves,
 * and nobody of a group whose name begins alike. */
static void a_group_is_all_that_run_in_it(void **state)
{
	static const char *const ways[] = {
		"shop", "/shop", "/sys/fs/cgroup/shop", "shop",
		"/sys/fs/cgroup/perf_event/shop"
	};

	(void)state;
	for (size_t way = 0; way < 5; way++) {
		bool is_old = way >= 3;
		int64_t in = perf_sim_fork(0), below = perf_sim_fork(0);
		int64_t alike = perf_sim_fork(0), other = perf_sim_fork(0);
		int64_t child;
		struct ppi_account account;

		perf_sim_machine.has_old_cgroups = is_old;
		perf_sim_move(in, "/shop");
		perf_sim_move(below, "/shop/web");
		perf_sim_move(alike, "/shopping");
		begin_group(ways[way]);
		child = perf_sim_fork(in);
		work(in, 100 * MS);
		work(below, 100 * MS);
		work(child, 100 * MS);
		work(alike, 100 * MS);
		work(other, 100 * MS);
		run_drain(&run);
		assert_int_equal(run_weight_of(&run, other), 0);
		perf_sim_move(other, "/shop/late");
		perf_sim_exit(child);
		work(other, 100 * MS);
		run_stop(&run);
		assert_near(in, 100 * MS);
		assert_near(below, 100 * MS);
		assert_near(child, 100 * MS);
		assert_near(other, 100 * MS);
		assert_int_equal(run_weight_of(&run, alike), 0);
		account = run_account(&run, 0);
		assert_true(account.is_estimate);
		/* version 1 has no clock of it; in version 2's, as simulated,
		 * came what other had used before */
		assert_int_equal(account.total_certainty,
		                 is_old ? PORTPROF_UNKNOWN : PORTPROF_EXACT);
		assert_int_equal(account.total_weight,
		                 is_old ? run_weight(&run, 0) : 500 * MS);
		assert_false(run_has_note(&run, "had ended"));
		run_close(&run);
		perf_sim_reset();
		run_init(&run, PPI_SAMPLE);
	}
}

/* Its only process is gone before anybody looks which group it was in. */
static void a_group_that_nobody_can_tell_is_said(void **state)
{
	int64_t in = perf_sim_fork(0), quick;

	(void)state;
	perf_sim_move(in, "/shop");
	begin_group("shop");
	quick = perf_sim_fork(0);
	perf_sim_move(quick, "/shop/quick");
	work(quick, 50 * MS);
	perf_sim_exit(quick);
	run_stop(&run);
	assert_int_equal(run_weight_of(&run, quick), 0);
	assert_true(run_has_note(&run, "had ended"));
}

/* The kernel's answer is the same as of an event that it does not know. */
static void a_group_of_another_hierarchy_is_refused(void **state)
{
	int64_t in = perf_sim_fork(0);

	(void)state;
	perf_sim_move(in, "/shop");
	perf_sim_machine.is_group_astray = true;
	run.plan.target = (struct ppi_target){
		.kind = PPI_TARGET_SYSTEM, .cgroup = "shop",
	};
	assert_int_equal(run_add(&run, "task-clock", 1000), PORTPROF_OK);
	assert_int_equal(run_open(&run), PORTPROF_E_UNSUPPORTED);
	assert_non_null(strstr(run.why.words, "perf_event"));
}

static void no_such_group(void **state)
{
	(void)state;
	run.plan.target = (struct ppi_target){
		.kind = PPI_TARGET_SYSTEM, .cgroup = "no/such",
	};
	assert_int_equal(run_add(&run, "task-clock", 1000), PORTPROF_OK);
	assert_int_equal(run_open(&run), PORTPROF_E_NOTFOUND);
}

#define CASE(name) \
	cmocka_unit_test_setup_teardown(name, fresh, nothing_is_held)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(all_that_descend_are_the_target),
		CASE(the_total_with_those_that_ended_is_what_was_sampled),
		CASE(a_number_is_whose_it_is_now),
		CASE(the_largest_number_is_one),
		CASE(what_begins_while_we_look_is_known),
		CASE(a_lost_record_is_made_up_for),
		CASE(who_may_not_sample_cpus_samples_threads),
		CASE(who_samples_nothing_has_no_events_of_threads),
		CASE(nobody_is_no_target),
		CASE(a_group_is_all_that_run_in_it),
		CASE(a_group_that_nobody_can_tell_is_said),
		CASE(a_group_of_another_hierarchy_is_refused),
		CASE(no_such_group),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("perf_family", tests, NULL, NULL);
}
