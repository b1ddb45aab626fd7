/* SPDX-License-Identifier: MIT */
/*
 * Who is counted on the guest's PMU: a thread, the process, its children,
 * another process, a command, a CPU, the whole system, a control group.
 *
 * usage: pmu_scope PMU [PATTERN]     the cases
 *        pmu_scope loop TURNS        a command of known work
 */
#include "config.h"

#include "tests/pmu/lab.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Much more than starting a thread or a process takes of user mode. */
enum { TURNS = 10000000, WORK = LAB_INSTRUCTIONS * TURNS, SLACK = WORK / 4 };

static pid_t child;

static int end_child(void **state)
{
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	child = 0;
	return lab_clean_up(state);
}

static uint64_t value_of(portprof_group *group)
{
	portprof_count count;

	lab_must(portprof_group_read(group, &count, 1));
	assert_int_equal(count.status, PORTPROF_COUNT_OK);
	return count.raw;
}

/* The group has counted the loop, and little else; or nothing of it. */
static void expect_work(uint64_t counted)
{
	lab_say("%" PRIu64 " of %d counted", counted, WORK);
	assert_in_range(counted, WORK, WORK + SLACK);
}

static void expect_none(uint64_t counted)
{
	lab_say("%" PRIu64 " of %d counted", counted, WORK);
	assert_in_range(counted, 0, SLACK);
}

static portprof_group *open_it(portprof_config *config)
{
	lab_add_event(config, "instructions:u");
	return lab_open_group(config);
}

/* ---- threads ---- */

static void *work(void *unused)
{
	lab_loop(TURNS);
	return unused;
}

static void work_in_thread(void)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, work, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void thread_counts_itself_alone(void **state)
{
	portprof_group *group = open_it(lab_config());
	uint64_t before = value_of(group);

	(void)state;
	work_in_thread();
	expect_none(value_of(group) - before);
	before = value_of(group);
	work(NULL);
	expect_work(value_of(group) - before);
}

static void process_counts_threads_of_later(void **state)
{
	portprof_config *config = lab_config();
	portprof_group *group;
	uint64_t before;

	(void)state;
	lab_must(
		portprof_config_set_target(config, PORTPROF_TARGET_PROCESS, 0));
	group = open_it(config);
	before = value_of(group);
	work_in_thread();
	expect_work(value_of(group) - before);
}

/* ---- processes ---- */

/* A child that works once it is told to; returns how to tell. */
static int start_child(void)
{
	int ends[2];
	char byte;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		close(ends[1]);
		if (read(ends[0], &byte, 1) == 1)
			lab_loop(TURNS);
		_exit(0);
	}
	close(ends[0]);
	return ends[1];
}

static void let_child_work(int go)
{
	int status;

	assert_int_equal(write(go, "", 1), 1);
	close(go);
	assert_int_equal(waitpid(child, &status, 0), child);
	child = 0;
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static uint64_t count_children(int follow)
{
	portprof_config *config = lab_config();
	portprof_group *group;
	uint64_t before;

	lab_must(
		portprof_config_set_target(config, PORTPROF_TARGET_PROCESS, 0));
	lab_must(portprof_config_set_number(config, "children", follow));
	group = open_it(config);
	before = value_of(group);
	let_child_work(start_child());
	return value_of(group) - before;
}

static void children_are_counted_where_asked(void **state)
{
	(void)state;
	expect_work(count_children(1));
	expect_none(count_children(0));
}

static void other_process_is_counted(void **state)
{
	portprof_config *config = lab_config();
	int go = start_child();
	portprof_group *group;

	(void)state;
	lab_must(
		portprof_config_set_target(config, PORTPROF_TARGET_PID, child));
	group = open_it(config);
	work(NULL); /* of no concern */
	let_child_work(go);
	expect_work(value_of(group));
}

static void command_is_counted_from_its_exec_on(void **state)
{
	char turns[16];
	portprof_config *config = lab_config();
	portprof_group *group;
	int ends[2], status;
	char byte;

	(void)state;
	snprintf(turns, sizeof(turns), "%d", TURNS);
	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		lab_loop(TURNS); /* before its exec */
		if (read(ends[0], &byte, 1) == 1)
			execl("/proc/self/exe", "pmu_scope", "loop", turns,
			      (char *)NULL);
		_exit(1);
	}
	lab_must(portprof_config_set_target(config, PORTPROF_TARGET_COMMAND,
					    child));
	group = open_it(config);
	assert_int_equal(write(ends[1], "", 1), 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	child = 0;
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(status, 0);
	expect_work(value_of(group));
}

static void samples_say_which_process(void **state)
{
	portprof_config *config = lab_config();
	portprof_session *session;
	portprof_stats stats;
	struct lab_log *log;

	(void)state;
	lab_must(
		portprof_config_set_target(config, PORTPROF_TARGET_PROCESS, 0));
	lab_must(portprof_config_set_number(config, "children", 1));
	lab_add_event(config, "cycles:u:period=20000");
	log = lab_log(config);
	session = lab_open_session(config);
	lab_must(portprof_session_start(session));
	let_child_work(start_child());
	lab_must(portprof_session_stop(session));
	stats = lab_stats(session, 0);
	lab_say("%" PRIu64 " samples, %" PRIu64 " of another process",
	        log->samples[0], log->other_threads);
	assert_true(log->other_threads + stats.lost_samples >= WORK / 20000);
	assert_true(log->samples[0] - log->other_threads < SLACK / 20000);
}

/* ---- CPUs ---- */

static void run_on(unsigned cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	assert_int_equal(sched_setaffinity(0, sizeof(set), &set), 0);
}

static portprof_group *open_cpus(const char *cpus)
{
	portprof_config *config = lab_config();

	lab_must(portprof_config_set_target_system(config, NULL, cpus));
	return open_it(config);
}

static void whole_system_is_counted(void **state)
{
	portprof_group *group = open_cpus(NULL);
	uint64_t before = value_of(group);

	(void)state;
	let_child_work(start_child());
	expect_work(value_of(group) - before);
}

static void one_cpu_is_counted(void **state)
{
	portprof_group *other, *ours = open_cpus("0");
	uint64_t before = value_of(ours);

	(void)state;
	run_on(0);
	work(NULL);
	expect_work(value_of(ours) - before);
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		return;
	other = open_cpus("1");
	before = value_of(other);
	work(NULL);
	expect_none(value_of(other) - before);
	run_on(1);
	before = value_of(other);
	work(NULL);
	expect_work(value_of(other) - before);
}

static void absent_cpu_is_refused(void **state)
{
	portprof_config *config = lab_config();
	portprof_group *group = NULL;

	(void)state;
	lab_must(portprof_config_set_target_system(config, NULL, "17"));
	lab_add_event(config, "instructions:u");
	assert_int_not_equal(portprof_group_open_config(config, &group),
	                     PORTPROF_OK);
	lab_say("%s", portprof_last_diag()->words);
	assert_null(group);
}

/* ---- control groups ---- */

#define CGROUP "/sys/fs/cgroup/lab"

static void put_child_in_cgroup(void)
{
	FILE *file;

	assert_true(mkdir(CGROUP, 0755) == 0 || errno == EEXIST);
	file = fopen(CGROUP "/cgroup.procs", "we");
	assert_non_null(file);
	fprintf(file, "%d", (int)child);
	assert_int_equal(fclose(file), 0);
}

/* The child that is in it, and nothing of us who are not. */
static void cgroup_is_counted_alone(void **state)
{
	portprof_config *config = lab_config();
	int go = start_child();
	portprof_group *group;
	uint64_t counted;

	(void)state;
	put_child_in_cgroup();
	lab_must(portprof_config_set_target_system(config, "lab", NULL));
	group = open_it(config);
	work(NULL);
	counted = value_of(group);
	lab_say("%" PRIu64 " counted of what is outside", counted);
	assert_int_equal(counted, 0);
	let_child_work(go);
	counted = value_of(group);
	expect_work(counted);
	/* beside the loop it wakes up and ends */
	if (lab_is_exact())
		assert_in_range(counted, WORK, WORK + 10000);
	assert_int_equal(rmdir(CGROUP), 0);
}

#define SCOPE_CASE(function) cmocka_unit_test_teardown(function, end_child)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		SCOPE_CASE(thread_counts_itself_alone),
		SCOPE_CASE(process_counts_threads_of_later),
		SCOPE_CASE(children_are_counted_where_asked),
		SCOPE_CASE(other_process_is_counted),
		SCOPE_CASE(command_is_counted_from_its_exec_on),
		SCOPE_CASE(samples_say_which_process),
		SCOPE_CASE(whole_system_is_counted),
		SCOPE_CASE(one_cpu_is_counted),
		SCOPE_CASE(absent_cpu_is_refused),
		SCOPE_CASE(cgroup_is_counted_alone),
	};

	if (argc == 3 && strcmp(argv[1], "loop") == 0) {
		lab_loop(strtoull(argv[2], NULL, 10));
		return 0;
	}
	lab_begin(argc, argv);
	return cmocka_run_group_tests_name("pmu_scope", tests, NULL, NULL);
}
