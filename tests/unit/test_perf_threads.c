/* SPDX-License-Identifier: MIT */
/* Threads, targets and layouts of the perf backend, on a simulated kernel. */
#include "backends/perf/records/perf_weight.h"
#include "tests/unit/perf_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

/* ---- threads ---- */

static void threads_of_every_age_weigh_the_same(void **state)
{
	struct perf_sim_work works[64];

	(void)state;
	for (size_t i = 0; i < 20; i++)
		works[i].tid = perf_sim_thread(0);
	open_and_start("task-clock", 1000);
	for (size_t i = 20; i < 64; i++)
		works[i].tid = perf_sim_thread(i % 2 ? 0 : works[i - 1].tid);
	for (size_t i = 0; i < 64; i++) {
		works[i].pc = 0x1000;
		works[i].ns = 50 * MS + 1;
		works[i].kernel_ns = 0;
	}
	perf_sim_run(works, 64);
	for (size_t i = 0; i < 64; i++)
		perf_sim_exit(works[i].tid);
	run_stop(&run);
	check_closure(64 * (50 * MS + 1), 64, MS);
	for (size_t i = 0; i < 64; i++)
		assert_int_equal(run_weight_of(&run, works[i].tid), 50 * MS);
	assert_int_equal(run_kind(&run, PORTPROF_RECORD_EXIT), 64);
}

/* The kernel adds an ended copy's time to the event it was copied from: the
 * creator's own time must not grow by it. */
static void an_ended_thread_is_not_its_creators(void **state)
{
	int64_t main_tid = perf_sim_main_tid();

	(void)state;
	open_and_start("task-clock", 1000);
	for (unsigned i = 0; i < 10; i++) {
		int64_t tid = perf_sim_thread(main_tid);

		run_work(tid, 0x2000, 20 * MS, 0);
		run_work(main_tid, 0x1000, 3 * MS, 0);
		perf_sim_exit(tid);
		run_work(main_tid, 0x1000, 3 * MS, 0);
	}
	run_stop(&run);
	check_closure(260 * MS, 11, MS);
	assert_in_range(run_weight_of(&run, main_tid), 59 * MS, 60 * MS);
}

static int64_t appears;

/* A thread is created while we look, by one that is attached already. */
static void appear_while_listed(void)
{
	if (run.bs.state && perf_state_of(&run.bs)->source_count > 0 &&
	    appears == 0)
		appears = perf_sim_thread(0);
}

static void a_thread_caught_twice_counts_once(void **state)
{
	int64_t child;

	(void)state;
	appears = 0;
	perf_sim_machine.on_list = appear_while_listed;
	open_and_start("task-clock", 1000);
	assert_true(appears > 0);
	run_work(appears, 0x1000, 10 * MS, 0);
	child = perf_sim_thread(appears); /* inherits both copies */
	run_work(child, 0x1000, 10 * MS, 0);
	run_drain(&run);
	run_work(appears, 0x1000, 40 * MS, 0);
	run_work(child, 0x1000, 40 * MS, 0);
	run_stop(&run);
	check_closure(100 * MS, 2, MS);
	assert_in_range(run_weight_of(&run, appears), 49 * MS, 50 * MS);
	assert_in_range(run_weight_of(&run, child), 49 * MS, 50 * MS);
}

static void thread_numbers_come_again(void **state)
{
	(void)state;
	open_and_start("task-clock", 1000);
	for (unsigned i = 0; i < 300; i++) {
		int64_t tid = perf_sim_thread(0);

		run_work(tid, 0x1000, 2 * MS + 1, 0);
		perf_sim_exit(tid);
		if (i % 50 == 0)
			run_drain(&run);
	}
	run_stop(&run);
	check_closure(300 * (2 * MS + 1), 300, MS);
	/* Memory is for living threads only: the main one is left. */
	assert_int_equal(perf_state_of(&run.bs)->weights->count, 1);
}

static void the_helper_is_not_in_the_profile(void **state)
{
	int64_t helper = perf_sim_thread(0);

	(void)state;
	run.bs.helper_tid = helper;
	open_and_start("task-clock", 1000);
	run_work(helper, 0x9000, 50 * MS, 0);
	run_work(0 + perf_sim_main_tid(), 0x1000, 50 * MS, 0);
	run_stop(&run);
	check_closure(50 * MS, 1, MS);
	assert_int_equal(run_weight_of(&run, helper), 0);
	assert_int_equal(run_account(&run, 0).cpu_time_ns, 50 * MS);
}

/* ---- one thread, other processes, commands ---- */

static void one_thread_alone(void **state)
{
	int64_t other = perf_sim_thread(0);

	(void)state;
	run.plan.target.kind = PPI_TARGET_TID;
	run.plan.target.tid = perf_sim_main_tid();
	open_and_start("task-clock", 1000);
	assert_int_equal(perf_sim_open_fds(), 2);
	run_work(other, 0x2000, 20 * MS, 0);
	run_work(perf_sim_main_tid(), 0x1000, 30 * MS + 5, 0);
	run_stop(&run);
	check_closure(30 * MS + 5, 1, MS);
	assert_int_equal(run_account(&run, 0).cpu_time_ns, 30 * MS + 5);
}

static void another_process(void **state)
{
	int64_t pid = perf_sim_fork(0), tid = perf_sim_thread(pid), late;
	int64_t unnamed;
	static const unsigned char id[20] = "0123456789abcdefghi";

	(void)state;
	perf_sim_rename(tid, "worker");
	perf_sim_map_code(pid, 0x10000, 0x1000, "/bin/prog", NULL);
	run.plan.target = (struct ppi_target){
		.kind = PPI_TARGET_PID, .pid = pid,
		.tid = 0, .is_self = false,
	};
	open_and_start("task-clock", 1000);
	late = perf_sim_thread(pid);
	run_work(pid, 0x10010, 10 * MS, 0);
	run_work(tid, 0x10010, 20 * MS, 0);
	run_work(late, 0x10010, 30 * MS, 0);
	run_work(perf_sim_main_tid(), 0x1000, 30 * MS, 0);
	unnamed = perf_sim_thread(tid);
	perf_sim_rename(late, "latecomer");
	perf_sim_map_code(late, 0x20000, 0x2000, "/lib/plugin.so", id);
	run_stop(&run);
	check_closure(60 * MS, 3, MS);
	assert_int_equal(run_account(&run, 0).cpu_time_ns, 60 * MS);
	assert_string_equal(run_name(&run, tid), "worker");
	assert_string_equal(run_name(&run, late), "latecomer");
	assert_string_equal(run_name(&run, unnamed), "worker");
	assert_non_null(run_module(&run, "/bin/prog"));
	assert_int_equal(run_module(&run, "/lib/plugin.so")->build_id_bytes,
	                 20);
	assert_memory_equal(run_module(&run, "/lib/plugin.so")->build_id, id,
	                    20);
}

/* From the files, by what the kernel says of which they are: also while a
 * neighbour's events ask for them in the records, after the process has ended,
 * and not from another file that has taken the path since. */
static void build_ids_are_those_of_the_files(void **state)
{
	static const unsigned char id[20] = "0123456789abcdefghi";
	int64_t pid = perf_sim_fork(0);

	(void)state;
	perf_sim_map_code(pid, 0x10000, 0x1000, "/bin/prog", id);
	perf_sim_machine.has_neighbour = true;
	run.plan.target = (struct ppi_target){
		.kind = PPI_TARGET_PID, .pid = pid,
		.tid = 0, .is_self = false,
	};
	open_and_start("task-clock", 1000);
	perf_sim_map_code(pid, 0x20000, 0x1000, "/lib/plugin.so", id);
	perf_sim_map_code(pid, 0x30000, 0x1000, "/lib/other.so", NULL);
	perf_sim_map_code(pid, 0x40000, 0x1000, "/lib/replaced.so", id);
	perf_sim_replace("/lib/replaced.so");
	perf_sim_exit(pid);
	run_stop(&run);
	assert_int_equal(run_module(&run, "/bin/prog")->build_id_bytes, 20);
	assert_int_equal(run_module(&run, "/lib/plugin.so")->build_id_bytes,
	                 20);
	assert_memory_equal(run_module(&run, "/lib/plugin.so")->build_id, id,
	                    20);
	assert_int_equal(run_module(&run, "/lib/other.so")->build_id_bytes, 0);
	assert_int_equal(run_module(&run, "/lib/replaced.so")->build_id_bytes,
	                 0);
}

static void a_command_from_its_exec_on(void **state)
{
	int64_t pid = perf_sim_fork(0);

	(void)state;
	run.plan.target = (struct ppi_target){
		.kind = PPI_TARGET_COMMAND, .pid = pid,
		.tid = 0, .is_self = false,
	};
	assert_int_equal(run_add(&run, "task-clock", 1000), PORTPROF_OK);
	assert_int_equal(run_open(&run), PORTPROF_OK);
	run_work(pid, 0x1000, 10 * MS, 0);
	run_start(&run);
	assert_int_equal(run_account(&run, 0).total_weight, 0);
	perf_sim_exec(pid, "prog");
	run_work(pid, 0x2000, 20 * MS, 0);
	run_work(perf_sim_thread(pid), 0x2000, 20 * MS, 0);
	run_stop(&run);
	check_closure(40 * MS, 2, MS);
	assert_string_equal(run_name(&run, pid), "prog");
	/* And again, when it has begun. */
	run_start(&run);
	run_work(pid, 0x2000, 20 * MS, 0);
	run_stop(&run);
	check_closure(60 * MS, 2, MS);
}

static void children_only_when_asked_for(void **state)
{
	int64_t child, grandchild;

	(void)state;
	for (unsigned follow = 0; follow < 2; follow++) {
		run.plan.follow_children = follow;
		open_and_start("task-clock", 1000);
		child = perf_sim_fork(0);
		grandchild = perf_sim_fork(child);
		perf_sim_exec(child, "tool");
		run_work(child, 0x1000, 20 * MS, 0);
		run_work(grandchild, 0x1000, 20 * MS, 0);
		run_work(perf_sim_main_tid(), 0x1000, 10 * MS, 0);
		perf_sim_exit(grandchild);
		run_stop(&run);
		check_closure(follow ? 50 * MS : 10 * MS, 3, MS);
		assert_int_equal(run_kind(&run, PORTPROF_RECORD_FORK),
		                 follow ? 2 : 0);
		run_close(&run);
		run_init(&run, PPI_SAMPLE);
	}
}

/* A server whose work is done by processes that it forked long ago. */
static void descendants_of_an_attached_process_are_its_own(void **state)
{
	(void)state;
	for (unsigned follow = 0; follow < 2; follow++) {
		int64_t pid = perf_sim_fork(0), stranger = perf_sim_fork(0);
		int64_t worker = perf_sim_fork(pid);
		int64_t thread = perf_sim_thread(worker);
		int64_t grandchild = perf_sim_fork(worker), late;

		perf_sim_map_code(worker, 0x1000, 0x1000, "/bin/worker", NULL);
		run.plan.target = (struct ppi_target){
			.kind = PPI_TARGET_PID, .pid = pid,
		};
		run.plan.follow_children = follow;
		run.plan.has_exact_children = true;
		open_and_start("task-clock", 1000);
		run_work(worker, 0x1000, 20 * MS, 0);
		run_work(thread, 0x1000, 20 * MS, 0);
		run_work(grandchild, 0x1000, 20 * MS, 0);
		run_work(pid, 0x1000, 10 * MS, 0);
		run_work(stranger, 0x1000, 40 * MS, 0);
		late = perf_sim_fork(worker);
		run_work(late, 0x1000, 20 * MS, 0);
		run_stop(&run);
		check_closure(follow ? 90 * MS : 10 * MS, 5, MS);
		assert_int_equal(run_weight_of(&run, stranger), 0);
		if (follow)
			assert_int_equal(run_weight_of(&run, worker), 20 * MS);
		run_close(&run);
		run_init(&run, PPI_SAMPLE);
	}
}

/* Several processes, each with its family or without; one was named twice, one
 * has ended, one descends from another. */
static void several_processes_are_one_target(void **state)
{
	(void)state;
	for (unsigned follow = 0; follow < 2; follow++) {
		int64_t first = perf_sim_fork(0), second = perf_sim_fork(0);
		int64_t stranger = perf_sim_fork(0), gone = perf_sim_fork(0);
		int64_t worker = perf_sim_fork(second);
		int64_t thread = perf_sim_thread(second), late;
		int64_t others[] = { gone, second, first, worker };

		perf_sim_exit(gone);
		perf_sim_map_code(second, 0x1000, 0x1000, "/bin/second", NULL);
		run.plan.target = (struct ppi_target){
			.kind = PPI_TARGET_PID, .pid = first, .others = others,
			.other_count = follow ? 4 : 3,
		};
		run.plan.follow_children = follow;
		run.plan.has_exact_children = true;
		open_and_start("task-clock", 1000);
		late = perf_sim_fork(first);
		run_work(first, 0x1000, 10 * MS, 0);
		run_work(second, 0x1000, 20 * MS, 0);
		run_work(thread, 0x1000, 20 * MS, 0);
		run_work(worker, 0x1000, 40 * MS, 0);
		run_work(late, 0x1000, 40 * MS, 0);
		run_work(stranger, 0x1000, 40 * MS, 0);
		run_stop(&run);
		check_closure(follow ? 130 * MS : 50 * MS, 5, MS);
		assert_int_equal(run_weight_of(&run, stranger), 0);
		assert_int_equal(run_weight_of(&run, second), 20 * MS);
		assert_int_equal(run_weight_of(&run, worker),
		                 follow ? 40 * MS : 0);
		assert_non_null(run_module(&run, "/bin/second"));
		run_close(&run);
		run_init(&run, PPI_SAMPLE);
	}
}

/* Those of another user are left out and counted, whichever comes first; when
 * there is nobody else, that is why. */
static void somebody_elses_process_among_several(void **state)
{
	int64_t own = perf_sim_fork(0), foreign = perf_sim_fork(0);
	int64_t others[] = { own };

	(void)state;
	perf_sim_machine.foreign_pid = foreign;
	run.plan.target = (struct ppi_target){
		.kind = PPI_TARGET_PID, .pid = foreign, .others = others,
		.other_count = 1,
	};
	open_and_start("task-clock", 1000);
	assert_true(run_has_note(&run, "1 thread"));
	run_work(own, 0x1000, 10 * MS, 0);
	run_work(foreign, 0x1000, 10 * MS, 0);
	run_stop(&run);
	check_closure(10 * MS, 2, MS);
	run_close(&run);
	run_init(&run, PPI_SAMPLE);
	run.plan.target = (struct ppi_target){
		.kind = PPI_TARGET_PID, .pid = foreign, .others = &foreign,
		.other_count = 1,
	};
	assert_int_equal(run_add(&run, "task-clock", 1000), PORTPROF_OK);
	assert_int_equal(run_open(&run), PORTPROF_E_DENIED);
}

/* ---- layouts ---- */

static void descriptors_decide_the_layout(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 100; i++)
		perf_sim_thread(0);
	/* 4 CPUs x (2 + 2 x 101) would be 816: above half of 600. */
	perf_sim_machine.fd_limit = 600;
	open_and_start("task-clock", 1000);
	assert_int_equal(perf_state_of(&run.bs)->layout, PERF_THREAD_RINGS);
	assert_int_equal(perf_sim_open_fds(), 202);
	run_stop(&run);
	run_close(&run);

	run_init(&run, PPI_SAMPLE);
	perf_sim_machine.fd_limit = 2048;
	open_and_start("task-clock", 1000);
	assert_int_equal(perf_state_of(&run.bs)->layout, PERF_CPU_RINGS);
	assert_int_equal(perf_sim_open_fds(), 816);
}

/* Too few for an event beside each: the one that samples reports mappings and
 * threads, and what it lost is not known to be samples. */
static void without_descriptors_there_are_no_carriers(void **state)
{
	struct ppi_account account;

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		perf_sim_thread(0);
	perf_sim_machine.fd_limit = 160;
	run.plan.ring_bytes = 4096;
	open_and_start("task-clock", 1000);
	assert_int_equal(perf_sim_open_fds(), 101);
	assert_true(run_has_note(&run, "ulimit -n"));
	run_work(perf_sim_main_tid(), 0x1000, 10 * MS, 0);
	assert_int_equal(run_account(&run, 0).lost_certainty, PORTPROF_EXACT);
	for (unsigned i = 0; i < 100; i++)
		perf_sim_rename(perf_sim_main_tid(), "again");
	run_stop(&run);
	account = run_account(&run, 0);
	assert_int_equal(run_samples(&run, 0), 10);
	/* of either kind: perhaps no sample was lost */
	assert_int_equal(account.lost_samples, 0);
	assert_int_equal(account.lost_certainty, PORTPROF_UNKNOWN);
	assert_true(run_has_note(&run, "records were lost, samples or those "
	                         "of mappings and names"));
}

static void thread_rings_find_new_threads(void **state)
{
	struct perf_sim_work works[40];
	uint64_t total;

	(void)state;
	perf_sim_machine.missing = PERF_HAS_INHERIT_THREAD;
	open_and_start("task-clock", 1000);
	assert_int_equal(perf_state_of(&run.bs)->layout, PERF_THREAD_RINGS);
	for (unsigned i = 0; i < 40; i++)
		works[i] = (struct perf_sim_work){
			perf_sim_thread(0), 0x1000, 15 * MS, 0, NULL
		};
	run_drain(&run);
	perf_sim_run(works, 40);
	run_drain(&run);
	for (unsigned i = 0; i < 40; i++)
		works[i].ns++;
	perf_sim_run(works, 40);
	for (unsigned i = 0; i < 40; i++)
		perf_sim_exit(works[i].tid);
	assert_int_equal(perf_sim_open_fds(), 82);
	perf_sim_idle(300 * MS);
	run_drain(&run);
	/* Those that ended were drained and given back. */
	assert_int_equal(perf_sim_open_fds(), 2);
	run_stop(&run);
	total = 40 * (30 * MS + 1);
	check_closure(total, 40, MS);
	assert_int_equal(run_account(&run, 0).cpu_time_ns, total);
}

static void what_ran_before_it_was_found_is_not_attached(void **state)
{
	int64_t tid;

	(void)state;
	perf_sim_machine.missing = PERF_HAS_INHERIT_THREAD;
	open_and_start("task-clock", 1000);
	tid = perf_sim_thread(0);
	run_work(tid, 0x1000, 7 * MS, 0);
	run_drain(&run);
	run_work(tid, 0x1000, 20 * MS, 0);
	run_stop(&run);
	check_closure(20 * MS, 1, MS);
	assert_int_equal(run_account(&run, 0).not_attached, 7 * MS);
}

/* What is lost is in the weights of the others: threads have clocks on every
 * kernel. Page faults have none. */
static void old_kernels_weigh_faults_by_periods(void **state)
{
	int64_t pid = perf_sim_fork(0);

	(void)state;
	perf_sim_machine.lacks_features = true;
	run.plan.target = (struct ppi_target){
		.kind = PPI_TARGET_COMMAND, .pid = pid,
		.tid = 0, .is_self = false,
	};
	assert_int_equal(run_add(&run, "page-faults:period=1", 0),
	                 PORTPROF_OK);
	open_and_start("task-clock", 1000);
	assert_true(run_has_note(&run, "one period"));
	perf_sim_exec(pid, "prog");
	run_work(pid, 0x2000, 20 * MS, 0);
	perf_sim_lose(3);
	perf_sim_page_faults(pid, 0x2000, 7);
	run_work(pid, 0x2000, 20 * MS, 0);
	perf_sim_lose(3);
	run_work(pid, 0x2000, 20 * MS, 0);
	run_stop(&run);
	assert_int_equal(run_account(&run, 0).total_weight, 7);
	assert_int_equal(run_weight(&run, 0), 4);
	assert_int_equal(run_account(&run, 1).total_weight, 60 * MS);
	assert_in_range(run_weight(&run, 1), 59 * MS, 60 * MS);
	assert_int_equal(run_account(&run, 1).lost_certainty,
	                 PORTPROF_UNKNOWN);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fresh, nothing_is_held)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(threads_of_every_age_weigh_the_same),
		CASE(an_ended_thread_is_not_its_creators),
		CASE(a_thread_caught_twice_counts_once),
		CASE(thread_numbers_come_again),
		CASE(the_helper_is_not_in_the_profile),
		CASE(one_thread_alone),
		CASE(another_process),
		CASE(build_ids_are_those_of_the_files),
		CASE(a_command_from_its_exec_on),
		CASE(children_only_when_asked_for),
		CASE(descendants_of_an_attached_process_are_its_own),
		CASE(several_processes_are_one_target),
		CASE(somebody_elses_process_among_several),
		CASE(descriptors_decide_the_layout),
		CASE(without_descriptors_there_are_no_carriers),
		CASE(thread_rings_find_new_threads),
		CASE(what_ran_before_it_was_found_is_not_attached),
		CASE(old_kernels_weigh_faults_by_periods),
	};

	return cmocka_run_group_tests_name("perf_threads", tests, NULL, NULL);
}
