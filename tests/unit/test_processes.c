/* SPDX-License-Identifier: MIT */
/* Which paths of /proc are of processes and threads that are gone. */
#include "config.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock_ns.h"
#include "base/processes.h"
#include "base/thread.h"

static bool is_gone(long process, long thread, const char *name)
{
	char path[96];

	if (thread)
		snprintf(path, sizeof(path), "/proc/%ld/task/%ld%s", process,
		         thread, name);
	else
		snprintf(path, sizeof(path), "/proc/%ld%s", process, name);
	return ppi_process_path_is_gone(path);
}

static void what_is_there_is_not_gone(void **state)
{
	(void)state;
	assert_false(is_gone(getpid(), 0, ""));
	assert_false(is_gone(getpid(), 0, "/task"));
	assert_false(is_gone(getpid(), 0, "/task/"));
	assert_false(is_gone(getpid(), getpid(), "/stat"));
	assert_false(is_gone(getppid(), 0, "/stat"));
	assert_false(is_gone(getppid(), 0, "/task/"));
	/* nothing is asked of the own process */
	assert_false(is_gone(getpid(), 99999999, "/stat"));
}

static void other_paths_are_nobodys(void **state)
{
	(void)state;
	assert_false(ppi_process_path_is_gone("/proc/self/stat"));
	assert_false(ppi_process_path_is_gone("/proc/loadavg"));
	assert_false(ppi_process_path_is_gone("/data/99999999/stat"));
	assert_false(ppi_process_path_is_gone("/proc/0/stat"));
	assert_false(ppi_process_path_is_gone("/proc/1/cgroup"));
	assert_false(ppi_process_path_is_gone("/proc"));
}

#ifdef __linux__

/* One that has ended is there until its parent has asked for it. */
static void a_process_is_gone_when_it_was_reaped(void **state)
{
	pid_t child = fork();
	siginfo_t info;

	(void)state;
	if (child == 0)
		_exit(0);
	assert_true(child > 0);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT),
	                 0);
	assert_false(is_gone(child, 0, "/stat"));
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_true(is_gone(child, 0, "/stat"));
	assert_true(is_gone(child, 0, "/task"));
	assert_true(is_gone(child, child, "/stat"));
}

static int64_t ended;

static void *end_at_once(void *unused)
{
	ended = ppi_thread_id();
	return unused;
}

/* Says which thread it had, and stays until it is killed. */
static void have_had_thread(int said)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, end_at_once, NULL) != 0 ||
	    pthread_join(thread, NULL) != 0 ||
	    write(said, &ended, sizeof(ended)) != sizeof(ended))
		_exit(1);
	for (;;)
		pause();
}

/* Its process is there still. Who has joined it may be a moment ahead of its end. */
static void a_thread_is_gone_when_it_has_ended(void **state)
{
	uint64_t begun = ppi_monotonic_ns();
	int64_t number = 0;
	int said[2];
	pid_t child;

	(void)state;
	assert_int_equal(pipe(said), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		have_had_thread(said[1]);
	close(said[1]);
	assert_int_equal(read(said[0], &number, sizeof(number)), sizeof(number));
	close(said[0]);
	while (!is_gone(child, (long)number, "/schedstat") &&
	       ppi_monotonic_ns() < begun + UINT64_C(60000000000))
		usleep(1000);
	assert_true(is_gone(child, (long)number, "/schedstat"));
	assert_false(is_gone(child, 0, "/schedstat"));
	assert_false(is_gone(child, child, "/schedstat"));
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_there_is_not_gone),
		cmocka_unit_test(other_paths_are_nobodys),
#ifdef __linux__
		cmocka_unit_test(a_process_is_gone_when_it_was_reaped),
		cmocka_unit_test(a_thread_is_gone_when_it_has_ended),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
