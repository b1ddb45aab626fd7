/* SPDX-License-Identifier: MIT */
/* Regions in code: exact on a simulated PMU, in several threads on the real
 * kernel. */
#include "tests/unit/perf_run.h"
#include "tests/unit/region_case.h"

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
	assert_int_equal(portprof_regions_read(NULL, by_thread, take, NULL),
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

static void check_says(const char *words)
{
	if (!strstr(portprof_last_diag()->words, words))
		fail_msg("'%s' is not in: %s", words,
		         portprof_last_diag()->words);
}

/* ---- on the simulated kernel ---- */

static void open_regions(const char *first, const char *second)
{
	portprof_config *config = portprof_config_new();

	assert_int_equal(portprof_config_set_backend(config, "perf"),
	                 PORTPROF_OK);
	assert_int_equal(portprof_config_add_event(config, first), PORTPROF_OK);
	if (second)
		assert_int_equal(portprof_config_add_event(config, second),
		                 PORTPROF_OK);
	assert_int_equal(portprof_regions_open(config, NULL), PORTPROF_OK);
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
	assert_int_equal(portprof_regions_read(NULL, 0, count_names, &next), 0);
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
	assert_int_equal(portprof_region_end(NULL, "never"),
	                 PORTPROF_E_INVALID);
	check_says("'never' ends, but none is open in this thread");
	begin("outer");
	begin("inner");
	work(MS);
	assert_int_equal(portprof_region_end(NULL, "outer"),
	                 PORTPROF_E_INVALID);
	check_says("'outer' ends, but the innermost open one of this thread "
	           "is 'inner'");
	/* nothing was changed */
	end("inner");
	end("outer");
	read_rows(0);
	assert_int_equal(row_of("inner")->calls, 1);
	assert_int_equal(row_of("outer")->counts[0].raw, MS);
	assert_int_equal(portprof_region_begin(NULL, ""), PORTPROF_E_INVALID);
	assert_int_equal(portprof_region_begin(NULL, NULL), PORTPROF_E_INVALID);
	assert_int_equal(portprof_region_end(NULL, NULL), PORTPROF_E_INVALID);
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
	assert_int_equal(portprof_regions_event_count(NULL), 0);
	assert_int_equal(portprof_regions_read(NULL, 0, take, NULL),
	                 PORTPROF_E_STATE);
	check_says("no regions are open");
	portprof_regions_close(NULL);
}

static void one_set_at_a_time(void **state)
{
	(void)state;
	open_regions("cycles", NULL);
	assert_int_equal(portprof_regions_open(NULL, NULL), PORTPROF_E_BUSY);
	begin("a");
	end("a");
	portprof_regions_close(NULL);
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
	assert_int_equal(portprof_regions_open(config, NULL),
	                 PORTPROF_E_NOTFOUND);
	portprof_config_free(config);
	config = portprof_config_new();
	portprof_config_set_target(config, PORTPROF_TARGET_PID, 1);
	assert_int_equal(portprof_regions_open(config, NULL),
	                 PORTPROF_E_INVALID);
	check_says("threads of this process");
	portprof_config_free(config);
	open_regions("cycles", NULL); /* and now it can */
}

static void events_are_told(void **state)
{
	portprof_event_info info = { .size = sizeof(info) };

	(void)state;
	open_regions("cycles:u", "task-clock");
	assert_int_equal(portprof_regions_event_count(NULL), 2);
	assert_int_equal(portprof_regions_event(NULL, 0, &info), PORTPROF_OK);
	assert_string_equal(info.canonical, "cycles:u");
	assert_int_equal(portprof_regions_event(NULL, 2, &info),
	                 PORTPROF_E_INVALID);
}

/* ---- sets with a handle ---- */

static portprof_regions *open_set(const char *event)
{
	portprof_config *config = portprof_config_new();
	portprof_regions *set = NULL;

	portprof_config_set_backend(config, "perf");
	portprof_config_add_event(config, event);
	assert_int_equal(portprof_regions_open(config, &set), PORTPROF_OK);
	assert_non_null(set);
	portprof_config_free(config);
	return set;
}

static void read_set(portprof_regions *set)
{
	row_count = 0;
	assert_int_equal(portprof_regions_read(set, 0, take, NULL),
	                 PORTPROF_OK);
}

static void two_libraries_count_their_own(void **state)
{
	portprof_event_info info = { .size = sizeof(info) };
	portprof_regions *first = open_set("cycles");
	portprof_regions *second = open_set("instructions");

	(void)state;
	/* without a handle nothing is open, and nothing happens */
	begin("r");
	assert_int_equal(portprof_regions_read(NULL, 0, take, NULL),
	                 PORTPROF_E_STATE);
	open_regions("task-clock", NULL);
	assert_int_equal(portprof_region_begin(first, "r"), PORTPROF_OK);
	work(MS);
	assert_int_equal(portprof_region_begin(second, "r"), PORTPROF_OK);
	begin("own");
	work(2 * MS);
	/* the innermost of its set, whatever others have open */
	assert_int_equal(portprof_region_end(first, "r"), PORTPROF_OK);
	work(4 * MS);
	assert_int_equal(portprof_region_end(second, "own"),
	                 PORTPROF_E_INVALID);
	assert_int_equal(portprof_region_end(second, "r"), PORTPROF_OK);
	end("own");
	read_set(first);
	assert_int_equal(row_count, 1);
	assert_int_equal(rows[0].counts[0].raw, 3 * MS);
	read_set(second);
	assert_int_equal(row_count, 1);
	assert_int_equal(rows[0].counts[0].raw, 12 * MS);
	read_rows(0);
	assert_int_equal(row_count, 1);
	assert_string_equal(rows[0].name, "own");
	assert_int_equal(rows[0].counts[0].raw, 6 * MS);
	assert_int_equal(portprof_regions_event_count(second), 1);
	assert_int_equal(portprof_regions_event(second, 0, &info), PORTPROF_OK);
	assert_string_equal(info.canonical, "instructions");
	portprof_regions_close(first);
	portprof_regions_close(second);
	read_rows(0); /* its counts are still there */
	assert_int_equal(row_count, 1);
}

static void sets_are_opened_until_there_are_too_many(void **state)
{
	portprof_regions *sets[PORTPROF_REGION_SETS_MAX] = { NULL };
	const size_t most = PORTPROF_REGION_SETS_MAX - 1;

	(void)state;
	for (size_t i = 0; i < most; i++)
		sets[i] = open_set("cycles");
	assert_int_equal(portprof_regions_open(NULL, &sets[most]),
	                 PORTPROF_E_LIMIT);
	check_says("15 sets");
	assert_null(sets[most]);
	open_regions("cycles", NULL); /* the process's own has its place */
	portprof_regions_close(sets[3]);
	sets[3] = open_set("instructions");
	assert_int_equal(portprof_region_begin(sets[3], "r"), PORTPROF_OK);
	work(MS);
	assert_int_equal(portprof_region_end(sets[3], "r"), PORTPROF_OK);
	read_set(sets[3]);
	assert_int_equal(rows[0].counts[0].raw, 2 * MS);
	for (size_t i = 0; i < most; i++)
		portprof_regions_close(sets[i]);
}

/* ---- reading inside, jumping out ---- */

static void an_open_region_is_read(void **state)
{
	portprof_count counts[EVENTS];

	(void)state;
	assert_int_equal(portprof_region_read(NULL, "r", counts, 1),
	                 PORTPROF_E_STATE);
	open_regions("cycles", "instructions");
	assert_int_equal(portprof_region_read(NULL, "r", counts, 1),
	                 PORTPROF_E_INVALID);
	check_says("'r' is not open in this thread");
	begin("r");
	work(MS);
	begin("inner");
	begin("r"); /* again: it counts from its first begin */
	work(2 * MS);
	assert_int_equal(portprof_region_read(NULL, "r", counts, EVENTS),
	                 PORTPROF_OK);
	assert_int_equal(counts[0].raw, 3 * MS);
	assert_int_equal(counts[1].scaled, 6 * MS);
	assert_int_equal(counts[0].status, PORTPROF_COUNT_OK);
	assert_int_equal(portprof_region_read(NULL, "inner", counts, 1),
	                 PORTPROF_OK);
	assert_int_equal(counts[0].raw, 2 * MS);
	assert_int_equal(portprof_region_read(NULL, "r", counts, EVENTS + 1),
	                 PORTPROF_E_INVALID);
	assert_int_equal(portprof_region_read(NULL, "r", NULL, 1),
	                 PORTPROF_E_INVALID);
	end("r");
	end("inner");
	end("r");
	read_rows(0); /* reading has changed nothing */
	assert_int_equal(row_of("r")->counts[0].raw, 3 * MS);
	assert_int_equal(row_of("r")->calls, 2);
	assert_int_equal(portprof_region_read(NULL, "r", counts, 1),
	                 PORTPROF_E_INVALID);
}

static jmp_buf way_out;

static void fail_inside(void)
{
	begin("parse");
	begin("item");
	begin("parse");
	work(2 * MS);
	longjmp(way_out, 1);
}

static void a_jump_over_ends_is_made_good(void **state)
{
	size_t depth;

	(void)state;
	assert_int_equal(portprof_region_depth(NULL), 0);
	assert_int_equal(portprof_region_end_to(NULL, 0), PORTPROF_OK);
	open_regions("cycles", NULL);
	assert_int_equal(portprof_region_end_to(NULL, 1), PORTPROF_E_INVALID);
	begin("whole");
	depth = portprof_region_depth(NULL);
	assert_int_equal(depth, 1);
	if (setjmp(way_out) == 0)
		fail_inside();
	assert_int_equal(portprof_region_depth(NULL), 4);
	assert_int_equal(portprof_region_end_to(NULL, 5), PORTPROF_E_INVALID);
	check_says("5 regions");
	assert_int_equal(portprof_region_end_to(NULL, 1), PORTPROF_OK);
	assert_int_equal(portprof_region_depth(NULL), 1);
	work(MS);
	end("whole");
	read_rows(0);
	assert_int_equal(row_of("parse")->calls, 2);
	assert_int_equal(row_of("parse")->counts[0].raw, 2 * MS);
	assert_int_equal(row_of("item")->calls, 1);
	assert_int_equal(row_of("item")->counts[0].raw, 2 * MS);
	assert_int_equal(row_of("whole")->counts[0].raw, 3 * MS);
}

static void *begin_twice(void *statuses)
{
	portprof_status *status = statuses;

	status[0] = portprof_region_begin(NULL, "x");
	status[1] = portprof_region_begin(NULL, "x");
	status[2] = portprof_region_end(NULL, "x");
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
		int is_good = portprof_region_begin(NULL, "x") ==
		                      PORTPROF_E_FORKED &&
		              portprof_region_end(NULL, "outer") ==
		                      PORTPROF_E_FORKED;

		is_good &= portprof_region_depth(NULL) == 0 &&
		           portprof_region_end_to(NULL, 0) ==
		                   PORTPROF_E_FORKED;
		portprof_regions_close(NULL);
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
		begin("outer");
		begin("inner");
		end("inner");
		end("outer");
	}
	return NULL;
}

static void each_thread_counts_its_own(void **state)
{
	pthread_t threads[THREADS];
	uint64_t sum = 0;

	(void)state;
	if (portprof_regions_open(NULL, NULL) != PORTPROF_OK) {
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
	portprof_regions_close(NULL);
}

static void *open_in_thread(void *status)
{
	*(portprof_status *)status = portprof_regions_open(NULL, NULL);
	portprof_region_begin(NULL, "r");
	portprof_region_end(NULL, "r");
	return NULL;
}

/* A thread counts in a set that is closed before the thread ends. */
struct outliver {
	portprof_regions *sets[2];
	pthread_barrier_t counted, closed;
	portprof_status status;
};

static void *outlive_a_set(void *context)
{
	struct outliver *outliver = context;

	for (unsigned i = 0; i < 2; i++) {
		portprof_regions *set = outliver->sets[i];

		if (outliver->status == PORTPROF_OK)
			outliver->status = portprof_region_begin(set, "r");
		if (outliver->status == PORTPROF_OK)
			outliver->status = portprof_region_end(set, "r");
	}
	pthread_barrier_wait(&outliver->counted);
	pthread_barrier_wait(&outliver->closed);
	return NULL;
}

static void a_thread_may_outlive_a_set(void **state)
{
	struct outliver outliver = { .status = PORTPROF_OK };
	pthread_t thread;

	(void)state;
	for (unsigned i = 0; i < 2; i++)
		if (portprof_regions_open(NULL, &outliver.sets[i])) {
			print_message("skip: %s\n",
			              portprof_last_diag()->words);
			portprof_regions_close(outliver.sets[0]);
			skip();
		}
	pthread_barrier_init(&outliver.counted, NULL, 2);
	pthread_barrier_init(&outliver.closed, NULL, 2);
	assert_int_equal(pthread_create(&thread, NULL, outlive_a_set,
	                                &outliver), 0);
	pthread_barrier_wait(&outliver.counted);
	portprof_regions_close(outliver.sets[0]);
	pthread_barrier_wait(&outliver.closed);
	pthread_join(thread, NULL);
	assert_int_equal(outliver.status, PORTPROF_OK);
	read_set(outliver.sets[1]);
	assert_int_equal(row_count, 1);
	assert_int_equal(rows[0].calls, 1);
	portprof_regions_close(outliver.sets[1]);
	pthread_barrier_destroy(&outliver.counted);
	pthread_barrier_destroy(&outliver.closed);
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
	assert_int_equal(portprof_regions_event(NULL, 0, &info), PORTPROF_OK);
	assert_string_equal(info.canonical, "task-clock");
	portprof_regions_close(NULL);
}

/* By a backend that the helper thread opens. */
static portprof_status open_with_helper(void)
{
	portprof_config *config = portprof_config_new();
	portprof_status status = portprof_config_set_backend(config, "rusage");

	if (status == PORTPROF_OK)
		status = portprof_regions_open(config, NULL);
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
		portprof_regions_close(NULL);
		_exit(open_with_helper() == PORTPROF_OK &&
		      portprof_region_begin(NULL, "child") == PORTPROF_OK &&
		      portprof_region_end(NULL, "child") == PORTPROF_OK
		      ? 0 : 1);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	portprof_regions_close(NULL);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fresh_kernel, nothing_is_held)

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
		CASE(two_libraries_count_their_own),
		CASE(sets_are_opened_until_there_are_too_many),
		CASE(an_open_region_is_read),
		CASE(a_jump_over_ends_is_made_good),
		CASE(a_thread_that_cannot_count_says_so_each_time),
		CASE(a_forked_child_has_none),
		cmocka_unit_test(each_thread_counts_its_own),
		cmocka_unit_test(a_thread_may_outlive_a_set),
		cmocka_unit_test(who_opened_them_may_end),
		cmocka_unit_test(a_forked_child_opens_its_own),
	};

	return cmocka_run_group_tests_name("regions", tests, NULL, NULL);
}
