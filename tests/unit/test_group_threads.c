/* SPDX-License-Identifier: MIT */
/* Threads come and go in a group while others, and a signal handler, read it. */
#include "config.h"

#include <portprof.h>

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/thread.h"

enum { WORKERS = 3, READERS = 2, ROUNDS = 200 };

static portprof_group *group;
static atomic_bool is_over;
static atomic_uint went_back, failures, handled;
static _Atomic uint64_t tids[WORKERS];
static uint64_t handler_last;

static void *work(void *context)
{
	_Atomic uint64_t *tid = context;

	atomic_store(tid, (uint64_t)ppi_thread_id());
	while (!atomic_load(&is_over))
		;
	return NULL;
}

static uint64_t look(uint64_t last)
{
	portprof_count count;

	if (portprof_group_read(group, &count, 1))
		atomic_fetch_add(&failures, 1);
	else if (count.raw < last)
		atomic_fetch_add(&went_back, 1);
	else
		last = count.raw;
	return last;
}

static void *read_on(void *context)
{
	uint64_t last = 0;

	(void)context;
	while (!atomic_load(&is_over))
		last = look(last);
	return NULL;
}

/* In the thread that adds and removes, wherever it is. */
static void handle(int signal)
{
	int before = errno;

	(void)signal;
	handler_last = look(handler_last);
	errno = before;
	atomic_fetch_add(&handled, 1);
}

static size_t descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

static void open_group(void)
{
	portprof_config *config = portprof_config_new();
	portprof_status status;

	portprof_config_set_backend(config, "perf");
	portprof_config_set_target(config, PORTPROF_TARGET_THREAD, 0);
	portprof_config_add_event(config, "task-clock");
	status = portprof_group_open_config(config, &group);
	portprof_config_free(config);
	if (status)
		skip();
}

static void choose(const char *how, unsigned worker)
{
	assert_int_equal(portprof_group_set_number(
				 group, how, atomic_load(&tids[worker])),
	                 PORTPROF_OK);
}

static void set_timer(unsigned us)
{
	struct itimerval every = { { 0, us }, { 0, us } };

	setitimer(ITIMER_REAL, &every, NULL);
}

static void readers_see_no_value_twice_or_missing(void **state)
{
	struct sigaction action = { .sa_handler = handle,
		                    .sa_flags = SA_RESTART };
	sigset_t alarm;
	pthread_t workers[WORKERS], readers[READERS];
	portprof_count first, last;
	size_t held;

	(void)state;
	open_group();
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm, NULL);
	for (unsigned i = 0; i < WORKERS; i++)
		assert_int_equal(pthread_create(&workers[i], NULL, work,
		                                &tids[i]), 0);
	for (unsigned i = 0; i < WORKERS; i++)
		while (!atomic_load(&tids[i]))
			sched_yield();
	held = descriptors();
	assert_int_equal(portprof_group_read(group, &first, 1), PORTPROF_OK);
	for (unsigned i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&readers[i], NULL, read_on,
		                                NULL), 0);
	sigaction(SIGALRM, &action, NULL);
	pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
	set_timer(2000);
	for (unsigned round = 0; round < ROUNDS; round++) {
		choose("add-thread", round % WORKERS);
		choose("add-thread", (round + 1) % WORKERS);
		choose("remove-thread", round % WORKERS);
	}
	set_timer(0);
	atomic_store(&is_over, true);
	for (unsigned i = 0; i < WORKERS; i++)
		pthread_join(workers[i], NULL);
	for (unsigned i = 0; i < READERS; i++)
		pthread_join(readers[i], NULL);
	assert_int_equal(atomic_load(&failures), 0);
	assert_int_equal(atomic_load(&went_back), 0);
	assert_true(atomic_load(&handled) > 0);
	assert_int_equal(portprof_group_read(group, &last, 1), PORTPROF_OK);
	assert_true(last.raw > first.raw);

	/* now that nobody reads, all that was removed is given back */
	choose("remove-thread", ROUNDS % WORKERS);
	assert_int_equal(descriptors(), held);
	portprof_group_close(group);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(readers_see_no_value_twice_or_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
