/* SPDX-License-Identifier: MIT */
/* A group on the process, read while its threads begin and end: every reading is
 * there, and none is less than the one before. */
#include <portprof.h>

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

enum { ROUNDS = 1500, AT_ONCE = 2, EVENTS = 2 };

static atomic_bool has_ended;

static void *work(void *unused)
{
	for (volatile int i = 0; i < 100000; i++)
		;
	return unused;
}

static void *begin_and_end_threads(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_t threads[AT_ONCE];
		int begun = 0;

		while (begun < AT_ONCE &&
		       pthread_create(&threads[begun], NULL, work, NULL) == 0)
			begun++;
		while (begun > 0)
			pthread_join(threads[--begun], NULL);
	}
	atomic_store(&has_ended, true);
	return unused;
}

/* With perf it is the kernel that adds the threads up. */
static portprof_group *open_group(void)
{
	portprof_config *config = portprof_config_new();
	portprof_group *group = NULL;
	portprof_status status;

	portprof_config_set_backend(config, "perf");
	portprof_config_add_event(config, "task-clock,page-faults");
	status = portprof_group_open_config(config, &group);
	portprof_config_free(config);
	if (status != PORTPROF_OK)
		skip();
	return group;
}

static void readings_never_fail_nor_decrease(void **state)
{
	portprof_group *group = open_group();
	portprof_count before[EVENTS] = { { 0 } }, now[EVENTS];
	unsigned long readings = 0, failed = 0;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, begin_and_end_threads,
	                                NULL), 0);
	for (; !atomic_load(&has_ended); readings++) {
		if (portprof_group_read(group, now, EVENTS) != PORTPROF_OK) {
			if (failed++ == 0)
				print_message("%s\n",
				              portprof_last_diag()->words);
			continue;
		}
		for (int i = 0; i < EVENTS; i++) {
			assert_true(now[i].scaled >= before[i].scaled);
			before[i] = now[i];
		}
	}
	pthread_join(thread, NULL);
	print_message("%lu of %lu readings failed\n", failed, readings);
	assert_int_equal(failed, 0);
	assert_true(before[0].scaled > 0);
	portprof_group_close(group);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(readings_never_fail_nor_decrease),
	};

	return cmocka_run_group_tests_name("group_process", tests, NULL, NULL);
}
