/* SPDX-License-Identifier: MIT */
/* Weights: their sum is what was counted, whatever happens in between. */
#include "backends/perf/records/perf_weight.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static struct perf_weights weights;

static int set_up(void **state)
{
	(void)state;
	return ppi_perf_weights_init(&weights, 2) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	ppi_perf_weights_free(&weights);
	return 0;
}

static uint64_t take(uint32_t tid, uint64_t id, uint64_t value,
                     uint64_t thread_time)
{
	struct perf_reading reading = { tid, tid / 100 * 100, 0, id, value,
		                        thread_time, false };
	uint64_t weight = 0;

	assert_true(ppi_perf_weights_take(&weights, &reading, &weight));
	return weight;
}

static void differences_of_one_stream(void **state)
{
	(void)state;
	assert_int_equal(take(1, 7, 100, 0), 100);
	assert_int_equal(take(1, 7, 250, 0), 150);
	assert_int_equal(take(1, 7, 250, 0), 0);
	assert_int_equal(take(2, 7, 40, 0), 40);
	assert_int_equal(take(1, 7, 251, 0), 1);
}

/* One event a CPU: without a better clock, each has its own difference. */
static void streams_add_up(void **state)
{
	(void)state;
	assert_int_equal(take(1, 7, 100, 0), 100);
	assert_int_equal(take(1, 8, 30, 0), 30);
	assert_int_equal(take(1, 7, 110, 0), 10);
	assert_int_equal(take(1, 9, 5, 0), 5);
	assert_int_equal(take(1, 8, 31, 0), 1);
}

static void the_threads_time_covers_all_cpus(void **state)
{
	(void)state;
	assert_int_equal(take(1, 7, 100, 100), 100);
	/* 60 ran on another CPU meanwhile, and had no sample there. */
	assert_int_equal(take(1, 7, 150, 210), 110);
	/* Its sample comes: its own count is in what was given already. */
	assert_int_equal(take(1, 8, 90, 240), 30);
	/* Clocks of two events that began at slightly different times. */
	assert_int_equal(take(1, 7, 151, 239), 0);
	assert_int_equal(take(1, 7, 155, 245), 5);
}

static void mixed_times_are_not_used(void **state)
{
	struct perf_thread *thread = ppi_perf_weights_add(&weights, 1);

	(void)state;
	thread->is_direct = true;
	assert_int_equal(take(1, 7, 100, 100), 100);
	thread->has_mixed_times = true;
	assert_int_equal(take(1, 7, 150, 5150), 50);
	assert_int_equal(take(1, 8, 20, 5170), 20);
}

/* What was given by the thread's time is not given again by its counts. */
static void no_double_weight_when_times_get_mixed(void **state)
{
	struct perf_thread *thread = ppi_perf_weights_add(&weights, 1);

	(void)state;
	assert_int_equal(take(1, 7, 100, 180), 180);
	thread->has_mixed_times = true;
	assert_int_equal(take(1, 8, 80, 9999), 0);
	assert_int_equal(take(1, 8, 95, 9999), 15);
}

static void mix_all_spares_inherited_threads(void **state)
{
	(void)state;
	ppi_perf_weights_add(&weights, 1)->is_direct = true;
	ppi_perf_weights_add(&weights, 2);
	ppi_perf_weights_mix_all(&weights);
	assert_true(ppi_perf_weights_find(&weights, 1)->has_mixed_times);
	assert_false(ppi_perf_weights_find(&weights, 2)->has_mixed_times);
}

static void events_are_apart(void **state)
{
	struct perf_reading other = { 1, 1, 1, 9, 1000, 0, false };
	uint64_t weight;

	(void)state;
	assert_int_equal(take(1, 7, 100, 0), 100);
	assert_true(ppi_perf_weights_take(&weights, &other, &weight));
	assert_int_equal(weight, 1000);
	assert_int_equal(take(1, 7, 110, 0), 10);
}

/* Process 100: its thread 105 executes a program, and is called 100 then. */
static void another_thread_executes_a_program(void **state)
{
	(void)state;
	assert_int_equal(take(100, 7, 550, 0), 550);
	assert_int_equal(take(105, 7, 1000, 0), 1000);
	assert_int_equal(take(205, 7, 9, 0), 9);
	ppi_perf_weights_end_later(&weights, 100);
	ppi_perf_weights_exec(&weights, 100);
	ppi_perf_weights_forget_ended(&weights);
	assert_null(ppi_perf_weights_find(&weights, 105));
	assert_int_equal(take(100, 7, 1001, 0), 1);
	assert_int_equal(take(100, 7, 3000, 0), 1999);
	/* the first one itself */
	assert_int_equal(take(206, 7, 5, 0), 5);
	ppi_perf_weights_end_later(&weights, 206);
	ppi_perf_weights_exec(&weights, 100);
	assert_int_equal(take(100, 7, 3001, 0), 1);
	/* nobody else is there */
	ppi_perf_weights_end_later(&weights, 100);
	ppi_perf_weights_exec(&weights, 100);
	ppi_perf_weights_forget_ended(&weights);
	assert_null(ppi_perf_weights_find(&weights, 100));
	assert_int_equal(take(205, 7, 10, 0), 1);
}

/* The number was given to a new thread and nobody said so. */
static void a_count_that_goes_back_is_a_new_thread(void **state)
{
	(void)state;
	assert_int_equal(take(1, 7, 5000, 5000), 5000);
	assert_int_equal(take(1, 7, 30, 30), 30);
	assert_int_equal(take(1, 7, 50, 50), 20);
}

static void a_dropped_stream_was_never_there(void **state)
{
	(void)state;
	/* 7 and 8 count the same thread on the same CPU. */
	assert_int_equal(take(1, 7, 100, 0), 100);
	assert_int_equal(take(1, 8, 100, 0), 100);
	ppi_perf_weights_drop_stream(&weights, 8);
	/* 200 were given for 100: the next 100 are paid already. */
	assert_int_equal(take(1, 7, 180, 0), 0);
	assert_int_equal(take(1, 7, 230, 0), 30);
}

static void ended_threads_take_no_memory(void **state)
{
	(void)state;
	for (uint32_t tid = 1; tid < 100000; tid++) {
		assert_int_equal(take(tid, 7, 10, 10), 10);
		ppi_perf_weights_end(&weights, tid);
	}
	assert_int_equal(weights.count, 0);
	assert_true(weights.room <= 64);
	ppi_perf_weights_end(&weights, 5); /* nobody */
}

static void too_many_threads_are_refused(void **state)
{
	struct perf_reading reading = { PERF_THREADS_MAX + 1, 0, 0, 7, 10, 0,
		                        false };
	uint64_t weight = 77;

	(void)state;
	for (uint32_t tid = 1; tid <= PERF_THREADS_MAX; tid++)
		assert_non_null(ppi_perf_weights_add(&weights, tid));
	assert_false(ppi_perf_weights_take(&weights, &reading, &weight));
	assert_int_equal(weight, 77);
}

/* The table against the simplest one there is. */
static void like_a_plain_array(void **state)
{
	enum { TIDS = 512 };
	static uint64_t counted[TIDS];
	uint64_t random = UINT64_C(88172645463325252);

	(void)state;
	for (unsigned i = 0; i < 200000; i++) {
		uint32_t tid;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		tid = (uint32_t)(random % TIDS);
		if (random >> 60 == 0) {
			ppi_perf_weights_end(&weights, tid * 3);
			counted[tid] = 0;
			continue;
		}
		counted[tid] += random >> 40;
		assert_int_equal(take(tid * 3, 7, counted[tid], 0),
		                 random >> 40);
	}
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(differences_of_one_stream),
		CASE(streams_add_up),
		CASE(the_threads_time_covers_all_cpus),
		CASE(mixed_times_are_not_used),
		CASE(no_double_weight_when_times_get_mixed),
		CASE(mix_all_spares_inherited_threads),
		CASE(events_are_apart),
		CASE(another_thread_executes_a_program),
		CASE(a_count_that_goes_back_is_a_new_thread),
		CASE(a_dropped_stream_was_never_there),
		CASE(ended_threads_take_no_memory),
		CASE(too_many_threads_are_refused),
		CASE(like_a_plain_array),
	};

	return cmocka_run_group_tests_name("perf_weight", tests, NULL, NULL);
}
