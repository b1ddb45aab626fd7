/* SPDX-License-Identifier: MIT */
/* Opening a group of counters is cheap: it starts no thread, and what could be
 * opened before is not probed again. */
#include "api/core/helper.h"
#include "tests/unit/perf_run.h"

#include <portprof.h>

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static portprof_status open_group(int is_thread, uint64_t required,
                                  portprof_group **group)
{
	portprof_config *config = portprof_config_new();
	portprof_status status;

	assert_int_equal(portprof_config_set_backend(config, "perf"),
	                 PORTPROF_OK);
	assert_int_equal(portprof_config_add_event(config, "task-clock"),
	                 PORTPROF_OK);
	assert_int_equal(portprof_config_require(config, required),
	                 PORTPROF_OK);
	if (is_thread)
		assert_int_equal(portprof_config_set_target(
			config, PORTPROF_TARGET_THREAD, 0), PORTPROF_OK);
	status = portprof_group_open_config(config, group);
	portprof_config_free(config);
	return status;
}

/* ---- on this system ---- */

/* A group of the process, or of this thread; skips where there is no perf. */
static portprof_group *real_group(int is_thread)
{
	portprof_group *group = NULL;

	if (open_group(is_thread, 0, &group) != PORTPROF_OK)
		skip();
	return group;
}

/* Of this process; 0 where no folder tells. */
static size_t thread_count(void)
{
	DIR *dir = opendir("/proc/self/task");
	const struct dirent *entry;
	size_t count = 0;

	while (dir && (entry = readdir(dir)) != NULL)
		count += entry->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return count;
}

static void a_group_starts_no_thread(void **state)
{
	size_t before = thread_count();

	(void)state;
	for (int is_thread = 0; is_thread < 2; is_thread++) {
		portprof_group *group = real_group(is_thread);
		portprof_count count;

		assert_int_equal(thread_count(), before);
		assert_int_equal(portprof_group_read(group, &count, 1),
		                 PORTPROF_OK);
		assert_int_equal(portprof_group_stop(group), PORTPROF_OK);
		assert_int_equal(portprof_group_start(group), PORTPROF_OK);
		assert_int_equal(thread_count(), before);
		assert_int_equal(ppi_helper_tid(), 0);
		portprof_group_close(group);
		assert_int_equal(thread_count(), before);
	}
}

/* What a session starts and ends is nothing to the group. */
static void a_session_comes_and_goes(void **state)
{
	portprof_group *group = real_group(0);
	portprof_config *config = portprof_config_new();
	portprof_session *session = NULL;
	portprof_count before, after;

	(void)state;
	assert_int_equal(portprof_group_read(group, &before, 1), PORTPROF_OK);
	assert_int_equal(portprof_session_open(config, &session), PORTPROF_OK);
	portprof_config_free(config);
	assert_true(ppi_helper_tid() != 0);
	assert_int_equal(portprof_session_start(session), PORTPROF_OK);
	assert_int_equal(portprof_session_stop(session), PORTPROF_OK);
	portprof_session_close(session);
	assert_int_equal(ppi_helper_tid(), 0);
	assert_int_equal(portprof_group_read(group, &after, 1), PORTPROF_OK);
	assert_true(after.raw > before.raw);
	assert_int_equal(after.status, PORTPROF_COUNT_OK);
	portprof_group_close(group);
}

static void *use_cpu(void *unused)
{
	volatile unsigned long turns = 0;

	while (turns < 20000000)
		turns++;
	return unused;
}

static uint64_t process_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void threads_that_come_later_are_counted(void **state)
{
	portprof_group *group = real_group(0);
	portprof_count before, after;
	pthread_t thread;
	uint64_t used;

	(void)state;
	assert_int_equal(portprof_group_read(group, &before, 1), PORTPROF_OK);
	used = process_ns();
	assert_int_equal(pthread_create(&thread, NULL, use_cpu, NULL), 0);
	pthread_join(thread, NULL);
	used = process_ns() - used;
	assert_int_equal(portprof_group_read(group, &after, 1), PORTPROF_OK);
	/* the thread's way out may be in the process's time alone */
	assert_true((after.raw - before.raw) * 10 > used * 9);
	portprof_group_close(group);
}

/* The pages that tell a child are used again, by the child's children too. */
static void a_child_opens_its_own(void **state)
{
	portprof_count count;
	portprof_group *group;
	int status;
	pid_t pid;

	(void)state;
	portprof_group_close(real_group(0));
	pid = fork();
	if (pid == 0) {
		if (open_group(0, 0, &group) ||
		    portprof_group_read(group, &count, 1))
			_exit(1);
		pid = fork();
		if (pid == 0)
			_exit(portprof_group_read(group, &count, 1) ==
			      PORTPROF_E_FORKED ? 0 : 2);
		if (waitpid(pid, &status, 0) != pid || status)
			_exit(3);
		_exit(portprof_group_read(group, &count, 1) ? 4 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* ---- where rights change ---- */

static int simulated(void **state)
{
	(void)state;
	perf_sim_reset();
	ppi_helper_set_manual(true);
	ppi_backend_set_kernel("perf", &perf_sim_kernel);
	return 0;
}

static int real_again(void **state)
{
	(void)state;
	ppi_backend_set_kernel("perf", NULL);
	ppi_helper_set_manual(false);
	assert_int_equal(perf_sim_open_fds(), 0);
	assert_int_equal(perf_sim_abuses(), 0);
	return 0;
}

static void rights_that_are_lost_are_told(void **state)
{
	portprof_group *group = NULL;

	(void)state;
	assert_int_equal(open_group(0, 0, &group), PORTPROF_OK);
	portprof_group_close(group);
	perf_sim_machine.syscall_error = EPERM;
	perf_sim_machine.has_filter = true;
	for (int i = 0; i < 2; i++) {
		group = NULL;
		assert_int_equal(open_group(0, 0, &group),
		                 PORTPROF_E_DENIED);
		assert_null(group);
		assert_non_null(strstr(portprof_last_diag()->words, "filter"));
	}
	perf_sim_machine.syscall_error = 0;
	assert_int_equal(open_group(0, 0, &group), PORTPROF_OK);
	portprof_group_close(group);
}

static void rights_that_are_won_are_seen(void **state)
{
	portprof_group *group = NULL;

	(void)state;
	perf_sim_machine.is_privileged = false;
	perf_sim_machine.paranoid = 2;
	assert_int_equal(open_group(0, 0, &group), PORTPROF_OK);
	portprof_group_close(group);
	assert_int_equal(open_group(0, PORTPROF_CAP_KERNEL, &group),
	                 PORTPROF_E_DENIED);
	perf_sim_machine.paranoid = 1;
	assert_int_equal(open_group(0, PORTPROF_CAP_KERNEL, &group),
	                 PORTPROF_OK);
	portprof_group_close(group);
}

/* Descriptors run out as they ever did: refused before any is open. */
static void a_second_group_finds_too_few_descriptors(void **state)
{
	portprof_group *group = NULL, *second = NULL;

	(void)state;
	assert_int_equal(open_group(0, 0, &group), PORTPROF_OK);
	perf_sim_machine.fd_limit = perf_sim_open_fds() + 2;
	assert_int_equal(open_group(0, 0, &second), PORTPROF_E_LIMIT);
	assert_null(second);
	portprof_group_close(group);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_group_starts_no_thread),
		cmocka_unit_test(a_session_comes_and_goes),
		cmocka_unit_test(threads_that_come_later_are_counted),
		cmocka_unit_test(a_child_opens_its_own),
		cmocka_unit_test_setup_teardown(rights_that_are_lost_are_told,
		                                simulated, real_again),
		cmocka_unit_test_setup_teardown(rights_that_are_won_are_seen,
		                                simulated, real_again),
		cmocka_unit_test_setup_teardown(
			a_second_group_finds_too_few_descriptors, simulated,
			real_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
