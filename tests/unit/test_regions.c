/* SPDX-License-Identifier: MIT */
/* Regions in code: exact on a simulated PMU, in several threads on the real
 * kernel. */
#include "api/internal/helper.h"
#include "tests/unit/perf_run.h"

#include <portprof.h>

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

/* ---- what was read ---- */

enum { ROWS = 16, EVENTS = 2 };

static struct row {
	char name[32];
	uint64_t calls, threads;
	int64_t tid;
	portprof_count counts[EVENTS];
} rows[ROWS];
static size_t row_count;

static int take(const portprof_region_info *info, void *context)
{
	struct row *row = &rows[row_count++];

	(void)context;
	assert_true(row_count <= ROWS);
	assert_int_equal(info->size, sizeof(*info));
	snprintf(row->name, sizeof(row->name), "%s", info->name);
	row->calls = info->calls;
	row->threads = info->threads;
	row->tid = info->tid;
	for (size_t i = 0; i < info->count && i < EVENTS; i++)
		row->counts[i] = info->counts[i];
	return 0;
}

static void read_rows(int by_thread)
{
	row_count = 0;
	assert_int_equal(portprof_regions_read(by_thread, take, NULL),
	                 PORTPROF_OK);
}

static const struct row *row_of(const char *name)
{
	for (size_t i = 0; i < row_count; i++)
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	fail_msg("no region '%s'", name);
	return NULL;
}

static void begin(const char *name)
{
	assert_int_equal(portprof_region_begin(name), PORTPROF_OK);
}

static void end(const char *name)
{
	assert_int_equal(portprof_region_end(name), PORTPROF_OK);
}

static void work(uint64_t ns)
{
	run_work(perf_sim_main_tid(), 0x1000, ns, 0);
}

static void check_says(const char *words)
{
	if (!strstr(portprof_last_diag()->words, words))
		fail_msg("'%s' is not in: %s", words,
		         portprof_last_diag()->words);
}

/* ---- on the simulated kernel ---- */

static int fresh(void **state)
{
	(void)state;
	perf_sim_reset();
	perf_sim_machine.counters = 4;
	ppi_helper_set_manual(true);
	ppi_backend_set_kernel("perf", &perf_sim_kernel);
	return 0;
}

static int nothing_is_held(void **state)
{
	(void)state;
	portprof_regions_close();
	ppi_backend_set_kernel("perf", NULL);
	ppi_helper_set_manual(false);
	assert_int_equal(perf_sim_open_fds(), 0);
	assert_int_equal(perf_sim_abuses(), 0);
	return 0;
}

static void open_regions(const char *first, const char *second)
{
	portprof_config *config = portprof_config_new();

	assert_int_equal(portprof_config_set_backend(config, "perf"),
	                 PORTPROF_OK);
	assert_int_equal(portprof_config_add_event(config, first), PORTPROF_OK);
	if (second)
		assert_int_equal(portprof_config_add_event(config, second),
		                 PORTPROF_OK);
	assert_int_equal(portprof_regions_open(config), PORTPROF_OK);
	portprof_config_free(config);
}

static void calls_and_values_add_up(void **state)
{
	(void)state;
	open_regions("cycles", "instructions");
	for (unsigned i = 0; i < 5; i++) {
		work(MS); /* outside */
		begin("load");
		work(3 * MS);
		end("load");
	}
	read_rows(0);
	assert_int_equal(row_count, 1);
	assert_string_equal(rows[0].name, "load");
	assert_int_equal(rows[0].calls, 5);
	assert_int_equal(rows[0].threads, 1);
	assert_int_equal(rows[0].tid, 0);
	assert_int_equal(rows[0].counts[0].raw, 15 * MS);
	assert_int_equal(rows[0].counts[1].raw, 30 * MS);
	assert_int_equal(rows[0].counts[0].scaled, 15 * MS);
	assert_int_equal(rows[0].counts[0].enabled_ns, 15 * MS);
	assert_int_equal(rows[0].counts[0].status, PORTPROF_COUNT_OK);
}

static int count_names(const portprof_region_info *info, void *next)
{
	unsigned *expected = next;
	char name[16];

	snprintf(name, sizeof(name), "r%u", (*expected)++);
	return strcmp(info->name, name) == 0 && info->calls == 2 ? 0 : 1;
}

/* In the order in which they were first begun. */
static void many_names_are_all_there(void **state)
{
	enum { NAMES = 20000 };
	unsigned next = 0;
	char name[16];

	(void)state;
	open_regions("cycles", NULL);
	for (unsigned i = 0; i < 2 * NAMES; i++) {
		snprintf(name, sizeof(name), "r%u", i % NAMES);
		begin(name);
		end(name);
	}
	assert_int_equal(portprof_regions_read(0, count_names, &next), 0);
	assert_int_equal(next, NAMES);
}

static void what_is_inside_is_part_of_what_is_around(void **state)
{
	(void)state;
	open_regions("cycles", NULL);
	begin("outer");
	work(MS);
	begin("inner");
	work(2 * MS);
	begin("innermost");
	work(4 * MS);
	end("innermost");
	end("inner");
	begin("inner");
	work(8 * MS);
	end("inner");
	end("outer");
	read_rows(0);
	assert_int_equal(row_count, 3);
	assert_string_equal(rows[0].name, "outer");
	assert_string_equal(rows[1].name, "inner");
	assert_string_equal(rows[2].name, "innermost");
	assert_int_equal(rows[0].counts[0].raw, 15 * MS);
	assert_int_equal(rows[1].counts[0].raw, 14 * MS);
	assert_int_equal(rows[1].calls, 2);
	assert_int_equal(rows[2].counts[0].raw, 4 * MS);
}

static void recurse(unsigned depth)
{
	begin("recurse");
	work(MS);
	if (depth > 1)
		recurse(depth - 1);
	end("recurse");
}

static void recursion_counts_once(void **state)
{
	(void)state;
	open_regions("cycles", NULL);
	recurse(10);
	recurse(1);
	read_rows(0);
	assert_int_equal(rows[0].calls, 11);
	assert_int_equal(rows[0].counts[0].raw, 11 * MS);
}

static void an_end_that_does_not_match_is_refused_in_words(void **state)
{
	(void)state;
	open_regions("cycles", NULL);
	assert_int_equal(portprof_region_end("never"), PORTPROF_E_INVALID);
	check_says("'never' ends, but none is open in this thread");
	begin("outer");
	begin("inner");
	work(MS);
	assert_int_equal(portprof_region_end("outer"), PORTPROF_E_INVALID);
	check_says("'outer' ends, but the innermost open one of this thread "
	           "is 'inner'");
	/* nothing was changed */
	end("inner");
	end("outer");
	read_rows(0);
	assert_int_equal(row_of("inner")->calls, 1);
	assert_int_equal(row_of("outer")->counts[0].raw, MS);
	assert_int_equal(portprof_region_begin(""), PORTPROF_E_INVALID);
	assert_int_equal(portprof_region_begin(NULL), PORTPROF_E_INVALID);
	assert_int_equal(portprof_region_end(NULL), PORTPROF_E_INVALID);
}

static void what_is_still_open_is_not_told(void **state)
{
	(void)state;
	open_regions("cycles", NULL);
	begin("twice");
	work(MS);
	end("twice");
	begin("twice");
	begin("open");
	work(MS);
	read_rows(0);
	assert_int_equal(row_count, 1);
	assert_int_equal(rows[0].calls, 1);
	assert_int_equal(rows[0].counts[0].raw, MS);
}

/* A rival has the one counter in turn: the sum is scaled, no part alone. */
static void shared_counters_are_scaled_as_a_whole(void **state)
{
	portprof_config *config = portprof_config_new();
	portprof_group *rival;

	(void)state;
	perf_sim_machine.counters = 1;
	perf_sim_machine.slice_ns = MS;
	open_regions("cycles", NULL);
	portprof_config_set_backend(config, "perf");
	portprof_config_add_event(config, "cycles");
	portprof_config_set_target(config, PORTPROF_TARGET_THREAD, 0);
	assert_int_equal(portprof_group_open_config(config, &rival),
	                 PORTPROF_OK);
	portprof_config_free(config);
	for (unsigned i = 0; i < 10; i++) {
		begin("r");
		work(MS); /* one slice: all of it counts, or nothing */
		end("r");
	}
	read_rows(0);
	assert_int_equal(rows[0].counts[0].status, PORTPROF_COUNT_SCALED);
	assert_int_equal(rows[0].counts[0].enabled_ns, 10 * MS);
	assert_int_equal(rows[0].counts[0].running_ns, 5 * MS);
	assert_int_equal(rows[0].counts[0].raw, 5 * MS);
	assert_int_equal(rows[0].counts[0].scaled, 10 * MS);
	portprof_group_close(rival);
}

static void without_open_regions_nothing_happens(void **state)
{
	(void)state;
	begin("a");
	end("b");
	assert_int_equal(portprof_regions_event_count(), 0);
	assert_int_equal(portprof_regions_read(0, take, NULL),
	                 PORTPROF_E_STATE);
	check_says("no regions are open");
	portprof_regions_close();
}

static void one_set_at_a_time(void **state)
{
	(void)state;
	open_regions("cycles", NULL);
	assert_int_equal(portprof_regions_open(NULL), PORTPROF_E_BUSY);
	begin("a");
	end("a");
	portprof_regions_close();
	open_regions("instructions", NULL);
	begin("b");
	work(MS);
	end("b");
	read_rows(0);
	assert_int_equal(row_count, 1);
	assert_string_equal(rows[0].name, "b");
	assert_int_equal(rows[0].counts[0].raw, 2 * MS);
}

static void what_cannot_be_counted_is_refused_at_once(void **state)
{
	portprof_config *config = portprof_config_new();

	(void)state;
	portprof_config_set_backend(config, "perf");
	portprof_config_add_event(config, "no-such-event");
	assert_int_equal(portprof_regions_open(config), PORTPROF_E_NOTFOUND);
	portprof_config_free(config);
	config = portprof_config_new();
	portprof_config_set_target(config, PORTPROF_TARGET_PID, 1);
	assert_int_equal(portprof_regions_open(config), PORTPROF_E_INVALID);
	check_says("threads of this process");
	portprof_config_free(config);
	open_regions("cycles", NULL); /* and now it can */
}

static void events_are_told(void **state)
{
	portprof_event_info info = { .size = sizeof(info) };

	(void)state;
	open_regions("cycles:u", "task-clock");
	assert_int_equal(portprof_regions_event_count(), 2);
	assert_int_equal(portprof_regions_event(0, &info), PORTPROF_OK);
	assert_string_equal(info.canonical, "cycles:u");
	assert_int_equal(portprof_regions_event(2, &info), PORTPROF_E_INVALID);
}

static void *begin_twice(void *statuses)
{
	portprof_status *status = statuses;

	status[0] = portprof_region_begin("x");
	status[1] = portprof_region_begin("x");
	status[2] = portprof_region_end("x");
	return NULL;
}

/* The simulated kernel has no such thread. */
static void a_thread_that_cannot_count_says_so_each_time(void **state)
{
	portprof_status status[3] = { 0 };
	pthread_t thread;

	(void)state;
	open_regions("cycles", NULL);
	pthread_create(&thread, NULL, begin_twice, status);
	pthread_join(thread, NULL);
	assert_true(status[0] < 0);
	assert_int_equal(status[1], status[0]);
	assert_int_equal(status[2], status[0]);
	read_rows(1);
	assert_int_equal(row_count, 0);
}

static void a_forked_child_has_none(void **state)
{
	int result;
	pid_t child;

	(void)state;
	open_regions("cycles", NULL);
	begin("outer");
	child = fork();
	if (child == 0) {
		int is_good = portprof_region_begin("x") ==
		                      PORTPROF_E_FORKED &&
		              portprof_region_end("outer") ==
		                      PORTPROF_E_FORKED;

		portprof_regions_close();
		_exit(is_good && perf_sim_abuses() == 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &result, 0), child);
	assert_int_equal(result, 0);
	work(MS);
	end("outer");
	read_rows(0);
	assert_int_equal(rows[0].counts[0].raw, MS);
}

/* ---- on the real kernel ---- */

enum { THREADS = 6, CALLS = 200 };

static void *count_in_thread(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < CALLS; i++) {
		assert_int_equal(portprof_region_begin("outer"), PORTPROF_OK);
		assert_int_equal(portprof_region_begin("inner"), PORTPROF_OK);
		assert_int_equal(portprof_region_end("inner"), PORTPROF_OK);
		assert_int_equal(portprof_region_end("outer"), PORTPROF_OK);
	}
	return NULL;
}

static void each_thread_counts_its_own(void **state)
{
	pthread_t threads[THREADS];
	uint64_t sum = 0;

	(void)state;
	if (portprof_regions_open(NULL) != PORTPROF_OK) {
		print_message("skip: %s\n", portprof_last_diag()->words);
		skip();
	}
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL,
		                                count_in_thread, NULL), 0);
	read_rows(0); /* while they count */
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	read_rows(1);
	assert_int_equal(row_count, 2 * THREADS);
	for (size_t i = 0; i < row_count; i++) {
		assert_int_equal(rows[i].calls, CALLS);
		assert_int_equal(rows[i].threads, 1);
		assert_true(rows[i].tid > 0 && rows[i].tid != getpid());
		assert_true(rows[i].counts[0].raw > 0);
		if (i % 2 == 0) {
			assert_string_equal(rows[i].name, "outer");
			assert_int_equal(rows[i + 1].tid, rows[i].tid);
			assert_true(rows[i].counts[0].raw >=
			            rows[i + 1].counts[0].raw);
			sum += rows[i].counts[0].raw;
		}
	}
	read_rows(0);
	assert_int_equal(row_count, 2);
	assert_int_equal(row_of("outer")->threads, THREADS);
	assert_int_equal(row_of("outer")->calls, THREADS * CALLS);
	assert_int_equal(row_of("outer")->counts[0].raw, sum);
	portprof_regions_close();
}

static void *open_in_thread(void *status)
{
	*(portprof_status *)status = portprof_regions_open(NULL);
	portprof_region_begin("r");
	portprof_region_end("r");
	return NULL;
}

/* What was given back is used for something else: memory of a thread that ended is
 * the next one's. */
static void *use_memory(void *unused)
{
	enum { BLOCKS = 8000 };
	static char *blocks[BLOCKS];

	(void)unused;
	for (size_t i = 0; i < BLOCKS; i++)
		blocks[i] = memset(malloc(i + 1), 'x', i + 1);
	for (size_t i = 0; i < BLOCKS; i++)
		free(blocks[i]);
	return NULL;
}

/* The events are the regions', not of the thread that opened them. */
static void who_opened_them_may_end(void **state)
{
	portprof_event_info info = { .size = sizeof(info) };
	portprof_status opened = PORTPROF_E_SYSTEM;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, open_in_thread, &opened),
	                 0);
	pthread_join(thread, NULL);
	if (opened)
		skip();
	assert_int_equal(pthread_create(&thread, NULL, use_memory, NULL), 0);
	pthread_join(thread, NULL);
	assert_int_equal(portprof_regions_event(0, &info), PORTPROF_OK);
	assert_string_equal(info.canonical, "task-clock");
	portprof_regions_close();
}

/* By a backend that the helper thread opens. */
static portprof_status open_with_helper(void)
{
	portprof_config *config = portprof_config_new();
	portprof_status status = portprof_config_set_backend(config, "rusage");

	if (status == PORTPROF_OK)
		status = portprof_regions_open(config);
	portprof_config_free(config);
	return status;
}

/* Nothing but regions is open in the parent: no session. */
static void a_forked_child_opens_its_own(void **state)
{
	int status;
	pid_t child;

	(void)state;
	if (open_with_helper() != PORTPROF_OK) {
		print_message("skip: %s\n", portprof_last_diag()->words);
		skip();
	}
	child = fork();
	if (child == 0) {
		alarm(60); /* it hung, waiting for the parent's helper */
		portprof_regions_close();
		_exit(open_with_helper() == PORTPROF_OK &&
		      portprof_region_begin("child") == PORTPROF_OK &&
		      portprof_region_end("child") == PORTPROF_OK ? 0 : 1);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	portprof_regions_close();
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fresh, nothing_is_held)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(calls_and_values_add_up),
		CASE(many_names_are_all_there),
		CASE(what_is_inside_is_part_of_what_is_around),
		CASE(recursion_counts_once),
		CASE(an_end_that_does_not_match_is_refused_in_words),
		CASE(what_is_still_open_is_not_told),
		CASE(shared_counters_are_scaled_as_a_whole),
		CASE(without_open_regions_nothing_happens),
		CASE(one_set_at_a_time),
		CASE(what_cannot_be_counted_is_refused_at_once),
		CASE(events_are_told),
		CASE(a_thread_that_cannot_count_says_so_each_time),
		CASE(a_forked_child_has_none),
		cmocka_unit_test(each_thread_counts_its_own),
		cmocka_unit_test(who_opened_them_may_end),
		cmocka_unit_test(a_forked_child_opens_its_own),
	};

	return cmocka_run_group_tests_name("regions", tests, NULL, NULL);
}
