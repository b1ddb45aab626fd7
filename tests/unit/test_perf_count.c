/* SPDX-License-Identifier: MIT */
/* Counting by the perf backend on a simulated PMU. */
#include "api/core/helper.h"
#include "tests/unit/perf_run.h"

#include <portprof.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

static struct perf_run run;
static portprof_count counts[RUN_EVENTS];

static int fresh(void **state)
{
	(void)state;
	perf_sim_reset();
	perf_sim_machine.counters = 4;
	run_init(&run, PPI_COUNT);
	return 0;
}

static int nothing_is_held(void **state)
{
	(void)state;
	if (run.bs.state)
		run_close(&run);
	assert_int_equal(perf_sim_open_fds(), 0);
	assert_int_equal(perf_sim_abuses(), 0);
	return 0;
}

static void add(const char *event, size_t group)
{
	assert_int_equal(run_add(&run, event, 0), PORTPROF_OK);
	run.events[run.plan.event_count - 1].group = group;
}

static void open_and_start(void)
{
	assert_int_equal(run_open(&run), PORTPROF_OK);
	run_start(&run);
}

static void read_counts(void)
{
	memset(counts, 0x77, sizeof(counts));
	assert_int_equal(run.bs.ops->count(&run.bs, counts,
	                                   run.plan.event_count),
	                 PORTPROF_OK);
}

/* So many in one group are refused, in several they are counted; each reading
 * has the values of each group from one moment. */
static void many_groups_are_counted(void **state)
{
	enum { GROUPS = 4, MEMBERS = 50, ALONE = 200 };
	static portprof_count many[GROUPS * MEMBERS];
	portprof_config *config = portprof_config_new();
	portprof_group *group = NULL;

	(void)state;
	perf_sim_machine.counters = 64;
	ppi_helper_set_manual(true);
	ppi_backend_set_kernel("perf", &perf_sim_kernel);
	portprof_config_set_backend(config, "perf");
	portprof_config_set_target(config, PORTPROF_TARGET_THREAD, 0);
	for (int i = 0; i < GROUPS * MEMBERS; i++)
		assert_int_equal(portprof_config_add_event(config, "cycles:u"),
		                 PORTPROF_OK);
	assert_int_equal(portprof_group_open_config(config, &group),
	                 PORTPROF_E_LIMIT);
	assert_non_null(strstr(portprof_last_diag()->words, "braces"));
	portprof_config_free(config);
	for (int round = 0; round < 2; round++) {
		config = portprof_config_new();
		portprof_config_set_backend(config, "perf");
		portprof_config_set_target(config, PORTPROF_TARGET_THREAD, 0);
		for (int i = 0; i < (round ? ALONE : GROUPS); i++) {
			char list[16 + 9 * MEMBERS] = "{";

			for (int j = 0; j < (round ? 1 : MEMBERS); j++)
				strcat(list, j ? ",cycles:u" : "cycles:u");
			strcat(list, "}");
			assert_int_equal(portprof_config_add_event(config,
			                                           list),
			                 PORTPROF_OK);
		}
		assert_int_equal(portprof_group_open_config(config, &group),
		                 PORTPROF_OK);
		run_work(perf_sim_main_tid(), 0x1000, 64 * MS, 0);
		assert_int_equal(portprof_group_read(group, many, 200),
		                 PORTPROF_OK);
		for (int i = 0; i < 200; i++) {
			int first = round ? i : i / MEMBERS * MEMBERS;

			assert_int_equal(many[i].enabled_ns, 64 * MS);
			assert_int_equal(many[i].running_ns,
			                 many[first].running_ns);
			assert_int_equal(many[i].raw, many[first].raw);
		}
		portprof_group_close(group);
		portprof_config_free(config);
	}
	ppi_backend_set_kernel("perf", NULL);
	ppi_helper_set_manual(false);
}

static void a_group_counts_the_same_time(void **state)
{
	(void)state;
	add("cycles", 0);
	add("instructions", 0);
	add("task-clock", 0);
	open_and_start();
	run_work(perf_sim_main_tid(), 0x1000, 10 * MS, 0);
	read_counts();
	assert_int_equal(counts[0].raw, 10 * MS);
	assert_int_equal(counts[1].raw, 20 * MS);
	assert_int_equal(counts[2].raw, 10 * MS);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(counts[i].status, PORTPROF_COUNT_OK);
		assert_int_equal(counts[i].scaled, counts[i].raw);
		assert_int_equal(counts[i].enabled_ns, 10 * MS);
		assert_int_equal(counts[i].running_ns, 10 * MS);
	}
}

static void user_mode_alone(void **state)
{
	(void)state;
	add("cycles:u", 0);
	open_and_start();
	run_work(perf_sim_main_tid(), 0x1000, 97 * MS, 97 * MS / 2);
	read_counts();
	assert_in_range(counts[0].raw, 48 * MS, 49 * MS);
	assert_int_equal(counts[0].status, PORTPROF_COUNT_OK);
}

static void all_threads_old_and_new(void **state)
{
	int64_t old = perf_sim_thread(0), new;

	(void)state;
	add("cycles", 0);
	add("instructions", 0);
	open_and_start();
	new = perf_sim_thread(old);
	run_work(old, 0x1000, 10 * MS, 0);
	run_work(new, 0x1000, 5 * MS, 0);
	read_counts();
	assert_int_equal(counts[0].raw, 15 * MS);
	perf_sim_exit(new);
	perf_sim_exit(old);
	run_work(perf_sim_main_tid(), 0x1000, 1 * MS, 0);
	read_counts();
	assert_int_equal(counts[0].raw, 16 * MS);
	assert_int_equal(counts[1].raw, 32 * MS);
}

static void stop_holds_and_start_goes_on(void **state)
{
	portprof_count held;

	(void)state;
	add("cycles", 0);
	open_and_start();
	run_work(perf_sim_main_tid(), 0x1000, 10 * MS, 0);
	run_stop(&run);
	read_counts();
	held = counts[0];
	run_work(perf_sim_main_tid(), 0x1000, 10 * MS, 0);
	read_counts();
	assert_memory_equal(&held, counts, sizeof(held));
	run_start(&run);
	run_work(perf_sim_main_tid(), 0x1000, 1 * MS, 0);
	read_counts();
	assert_int_equal(counts[0].raw, 11 * MS);
	assert_int_equal(counts[0].enabled_ns, 11 * MS);
}

/* Six groups share four counters: two thirds of the time each. */
static void more_events_than_counters(void **state)
{
	uint64_t last[6] = { 0 };

	(void)state;
	for (size_t i = 0; i < 6; i++)
		add("cycles", i);
	open_and_start();
	for (unsigned round = 0; round < 60; round++) {
		run_work(perf_sim_main_tid(), 0x1000, 7 * MS, 0);
		read_counts();
		/* In full precision, and never less than was told before. */
		for (size_t i = 0; i < 6; i++) {
			uint64_t scaled = counts[i].raw * counts[i].enabled_ns /
			                  counts[i].running_ns;

			last[i] = scaled > last[i] ? scaled : last[i];
			assert_int_equal(counts[i].scaled, last[i]);
		}
	}
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(counts[i].status, PORTPROF_COUNT_SCALED);
		assert_int_equal(counts[i].enabled_ns, 420 * MS);
		assert_true(counts[i].running_ns < counts[i].enabled_ns);
		assert_int_equal(counts[i].raw, counts[i].running_ns);
		assert_in_range(counts[i].scaled, 419 * MS, 421 * MS);
	}
}

/* What no counter has room for has not counted zero: it never ran. */
static void what_never_ran_is_no_zero(void **state)
{
	(void)state;
	perf_sim_machine.counters = 2;
	add("cycles:pinned", 0);
	add("instructions", 0);
	add("cycles", 1);
	open_and_start();
	run_work(perf_sim_main_tid(), 0x1000, 10 * MS, 0);
	read_counts();
	assert_int_equal(counts[0].status, PORTPROF_COUNT_OK);
	assert_int_equal(counts[1].raw, 20 * MS);
	assert_int_equal(counts[2].status, PORTPROF_COUNT_NEVER_RAN);
	assert_int_equal(counts[2].enabled_ns, 10 * MS);
	assert_int_equal(counts[2].running_ns, 0);
}

static void a_pinned_group_that_lost_its_place(void **state)
{
	(void)state;
	perf_sim_machine.counters = 2;
	add("cycles:pinned", 0);
	add("instructions", 0);
	add("cycles:pinned", 1);
	add("instructions", 1);
	open_and_start();
	run_work(perf_sim_main_tid(), 0x1000, 10 * MS, 0);
	read_counts();
	/* The one that came second is in error, leader and member. */
	assert_int_equal((counts[0].status == PORTPROF_COUNT_ERROR) +
	                 (counts[2].status == PORTPROF_COUNT_ERROR), 1);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(counts[i].status, counts[i / 2 * 2].status);
}

static void a_group_too_large_is_refused_whole(void **state)
{
	(void)state;
	perf_sim_machine.counters = 2;
	for (size_t i = 0; i < 3; i++)
		add("cycles", 0);
	assert_int_equal(run_open(&run), PORTPROF_E_UNSUPPORTED);
	assert_int_equal(run.why.os_errno, EINVAL);
	assert_non_null(strstr(run.why.words, "fewer events in one group"));
}

static void or_opened_without_what_is_refused(void **state)
{
	(void)state;
	perf_sim_machine.counters = 2;
	run.plan.allow_refused = true;
	for (size_t i = 0; i < 3; i++)
		add("cycles", 0);
	open_and_start();
	run_work(perf_sim_main_tid(), 0x1000, 10 * MS, 0);
	read_counts();
	assert_int_equal(counts[0].raw, 10 * MS);
	assert_int_equal(counts[1].raw, 10 * MS);
	assert_int_equal(counts[2].status, PORTPROF_COUNT_REFUSED);
	assert_int_equal(run.refusals[2].status, PORTPROF_E_UNSUPPORTED);
	assert_int_equal(run.refusals[2].os_errno, EINVAL);
}

/* A leader that is refused: the next one leads. */
static void an_event_that_was_refused_before(void **state)
{
	(void)state;
	run.plan.allow_refused = true;
	add("cycles", 0);
	add("instructions", 0);
	run.refusals[0].status = PORTPROF_E_UNSUPPORTED;
	open_and_start();
	run_work(perf_sim_main_tid(), 0x1000, 10 * MS, 0);
	read_counts();
	assert_int_equal(counts[0].status, PORTPROF_COUNT_REFUSED);
	assert_int_equal(counts[1].raw, 20 * MS);
}

static void descriptors_are_counted_first(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 30; i++)
		perf_sim_thread(0);
	perf_sim_machine.fd_limit = 60;
	add("cycles", 0);
	add("instructions", 0);
	assert_int_equal(run_open(&run), PORTPROF_E_LIMIT);
	assert_non_null(strstr(run.why.words, "70 descriptors"));
	assert_non_null(strstr(run.why.words, "limit of 60"));
	assert_non_null(strstr(run.why.words, "ulimit -n"));
	assert_true(perf_sim_peak_fds() < 5);
}

static void old_kernels_read_one_by_one(void **state)
{
	(void)state;
	perf_sim_machine.missing = PERF_HAS_INHERIT_GROUP;
	add("cycles", 0);
	add("instructions", 0);
	open_and_start();
	assert_false(run.bs.caps & PORTPROF_CAP_GROUP);
	assert_true(run_has_note(&run, "one by one"));
	run_work(perf_sim_thread(0), 0x1000, 10 * MS, 0);
	read_counts();
	assert_int_equal(counts[0].raw, 10 * MS);
	assert_int_equal(counts[1].raw, 20 * MS);
}

static unsigned to_appear;

static void appear_while_listed(void)
{
	if (run.bs.state && perf_state_of(&run.bs)->source_count > 0 &&
	    to_appear > 0) {
		to_appear--;
		perf_sim_thread(0);
	}
}

/* A thread that appears while the others are opened counts once. */
static void threads_that_appear_meanwhile(void **state)
{
	int64_t first;

	(void)state;
	perf_sim_thread(0); /* the one that creates them */
	to_appear = 3;
	perf_sim_machine.on_list = appear_while_listed;
	add("cycles", 0);
	open_and_start();
	assert_int_equal(to_appear, 0);
	assert_int_equal(perf_sim_open_fds(), 5);
	first = perf_sim_thread(0) - 1;
	run_work(first, 0x1000, 10 * MS, 0);
	run_work(first + 1, 0x1000, 10 * MS, 0);
	read_counts();
	assert_int_equal(counts[0].raw, 20 * MS);
}

/* Nobody is there to create threads while the only one opens counters. */
static void the_only_thread_does_not_look_again(void **state)
{
	(void)state;
	to_appear = 1;
	perf_sim_machine.on_list = appear_while_listed;
	add("cycles", 0);
	open_and_start();
	assert_int_equal(to_appear, 1);
	assert_int_equal(perf_sim_open_fds(), 1);
}

static void a_command_counts_from_its_exec_on(void **state)
{
	int64_t pid = perf_sim_fork(0);

	(void)state;
	run.plan.target = (struct ppi_target){
		.kind = PPI_TARGET_COMMAND, .pid = pid,
		.tid = 0, .is_self = false,
	};
	run.plan.follow_children = true;
	add("cycles", 0);
	add("instructions", 0);
	open_and_start();
	run_work(pid, 0x1000, 10 * MS, 0);
	read_counts();
	assert_int_equal(counts[0].status, PORTPROF_COUNT_NEVER_RAN);
	perf_sim_exec(pid, "prog");
	run_work(pid, 0x1000, 10 * MS, 0);
	run_work(perf_sim_fork(pid), 0x1000, 10 * MS, 0);
	read_counts();
	assert_int_equal(counts[0].raw, 20 * MS);
	assert_int_equal(counts[1].raw, 40 * MS);
	run_stop(&run);
	run_start(&run);
	run_work(pid, 0x1000, 10 * MS, 0);
	read_counts();
	assert_int_equal(counts[0].raw, 30 * MS);
}

/* One of them belongs to another user: it is left out, and the others count,
 * each once. */
static void several_processes_are_counted_together(void **state)
{
	int64_t foreign = perf_sim_fork(0), second = perf_sim_fork(0);
	int64_t third = perf_sim_fork(0);
	int64_t others[] = { second, third, second };

	(void)state;
	perf_sim_machine.foreign_pid = foreign;
	run.plan.target = (struct ppi_target){
		.kind = PPI_TARGET_PID, .pid = foreign, .others = others,
		.other_count = 3,
	};
	add("cycles", 0);
	open_and_start();
	assert_true(run_has_note(&run, "1 thread"));
	run_work(foreign, 0x1000, 10 * MS, 0);
	run_work(second, 0x1000, 10 * MS, 0);
	run_work(third, 0x1000, 20 * MS, 0);
	read_counts();
	assert_int_equal(counts[0].raw, 30 * MS);
}

/* Who it belongs to is why, also where events may be refused; it has not
 * ended. */
static void somebody_elses_process_alone(void **state)
{
	int64_t foreign = perf_sim_fork(0);

	(void)state;
	perf_sim_machine.foreign_pid = foreign;
	run.plan.allow_refused = true;
	run.plan.target = (struct ppi_target){
		.kind = PPI_TARGET_PID, .pid = foreign,
	};
	add("cycles", 0);
	add("instructions", 0);
	assert_int_equal(run_open(&run), PORTPROF_E_DENIED);
	assert_int_equal(run.why.os_errno, EACCES);
	assert_non_null(strstr(run.why.words, "belongs to another"));
}

static void one_thread_alone(void **state)
{
	int64_t tid = perf_sim_thread(0);

	(void)state;
	run.plan.target = (struct ppi_target){
		.kind = PPI_TARGET_TID, .pid = tid,
		.tid = tid, .is_self = false,
	};
	add("cycles", 0);
	open_and_start();
	run_work(tid, 0x1000, 10 * MS, 0);
	run_work(perf_sim_main_tid(), 0x1000, 10 * MS, 0);
	read_counts();
	assert_int_equal(counts[0].raw, 10 * MS);
}

static size_t call_named(const char *name)
{
	size_t call = 0;

	while (strcmp(perf_sim_call_name(call), name) != 0)
		call++;
	return call;
}

/* Each errno that the kernel may answer with reaches the caller. */
static void a_reading_that_fails_says_why(void **state)
{
	portprof_config *config = portprof_config_new();
	portprof_group *group = NULL;

	(void)state;
	ppi_helper_set_manual(true);
	ppi_backend_set_kernel("perf", &perf_sim_kernel);
	portprof_config_set_backend(config, "perf");
	portprof_config_set_target(config, PORTPROF_TARGET_THREAD, 0);
	portprof_config_add_event(config, "{cycles:u},{instructions:u}");
	if (portprof_group_open_config(config, &group) != PORTPROF_OK)
		fail_msg("%s", portprof_last_diag()->words);
	for (unsigned i = 0; perf_sim_fail(call_named("read"), 1, i); i++) {
		const portprof_diag *diag = portprof_last_diag();

		assert_int_equal(portprof_group_read(group, counts, 2),
		                 PORTPROF_E_SYSTEM);
		assert_int_not_equal(diag->os_errno, 0);
		assert_non_null(strstr(diag->step, "read"));
		assert_non_null(strstr(diag->words, strerror(diag->os_errno)));
		assert_non_null(strstr(diag->words, "again"));
		assert_int_equal(portprof_group_read(group, counts, 2),
		                 PORTPROF_OK);
	}
	portprof_group_close(group);
	portprof_config_free(config);
	ppi_backend_set_kernel("perf", NULL);
	ppi_helper_set_manual(false);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fresh, nothing_is_held)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_group_counts_the_same_time),
		CASE(many_groups_are_counted),
		CASE(a_reading_that_fails_says_why),
		CASE(user_mode_alone),
		CASE(all_threads_old_and_new),
		CASE(stop_holds_and_start_goes_on),
		CASE(more_events_than_counters),
		CASE(what_never_ran_is_no_zero),
		CASE(a_pinned_group_that_lost_its_place),
		CASE(a_group_too_large_is_refused_whole),
		CASE(or_opened_without_what_is_refused),
		CASE(an_event_that_was_refused_before),
		CASE(descriptors_are_counted_first),
		CASE(old_kernels_read_one_by_one),
		CASE(threads_that_appear_meanwhile),
		CASE(the_only_thread_does_not_look_again),
		CASE(a_command_counts_from_its_exec_on),
		CASE(several_processes_are_counted_together),
		CASE(somebody_elses_process_alone),
		CASE(one_thread_alone),
	};

	return cmocka_run_group_tests_name("perf_count", tests, NULL, NULL);
}
