/* SPDX-License-Identifier: MIT */
/* The helper thread: calls, tasks, its end, and which thread waits. */
#include "config.h"

#include "api/core/helper.h"
#include "base/clock_ns.h"
#include "base/thread.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct seen {
	int64_t tid;
	int calls;
	sigset_t blocked;
};

static void look_around(void *context)
{
	struct seen *seen = context;

	seen->tid = ppi_thread_id();
	seen->calls++;
	pthread_sigmask(SIG_BLOCK, NULL, &seen->blocked);
}

static void test_call_runs_in_the_helper(void **state)
{
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(ppi_helper_take(NULL), 0);
	ppi_helper_call(look_around, &seen);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.tid, ppi_helper_tid());
	assert_int_not_equal(seen.tid, ppi_thread_id());
	assert_int_equal(sigismember(&seen.blocked, SIGPROF), 1);
	assert_int_equal(sigismember(&seen.blocked, SIGTERM), 1);
	assert_true(ppi_helper_cpu_ns() > 0);
	ppi_helper_give_back();
	assert_int_equal(ppi_helper_tid(), 0);
	assert_int_equal(ppi_helper_cpu_ns(), 0);
}

static void *begin_helper(void *unused)
{
	(void)unused;
	ppi_helper_begin();
	return NULL;
}

/* Before any other, so that the process has had no second thread. */
static void test_on_demand_there_is_none_before(void **state)
{
	struct seen seen = { 0 };
	pthread_t other;

	(void)state;
	ppi_helper_promise_to_begin();
	assert_false(ppi_helper_begins_on_demand());
	ppi_helper_take_later();
	if (ppi_thread_is_only())
		assert_true(ppi_helper_begins_on_demand());
	ppi_helper_call(look_around, &seen);
	assert_int_equal(seen.tid, ppi_thread_id());
	/* several may want it at once */
	assert_int_equal(pthread_create(&other, NULL, begin_helper, NULL), 0);
	assert_false(ppi_helper_begins_on_demand());
	ppi_helper_begin();
	pthread_join(other, NULL);
	ppi_helper_call(look_around, &seen);
	assert_int_equal(seen.tid, ppi_helper_tid());
	assert_int_not_equal(seen.tid, ppi_thread_id());
	ppi_helper_give_back();
	assert_int_equal(ppi_helper_tid(), 0);
	/* given back before it was begun */
	ppi_helper_take_later();
	ppi_helper_give_back();
	ppi_helper_begin();
	assert_int_equal(ppi_helper_tid(), 0);
}

/* The last of several takers ends the thread, not the first. */
static void test_thread_lives_as_long_as_somebody_needs_it(void **state)
{
	int64_t tid;

	(void)state;
	assert_int_equal(ppi_helper_take(NULL), 0);
	tid = ppi_helper_tid();
	assert_int_equal(ppi_helper_take(NULL), 0);
	assert_int_equal(ppi_helper_tid(), tid);
	ppi_helper_give_back();
	assert_int_equal(ppi_helper_tid(), tid);
	assert_true(ppi_thread_is_own(tid));
	ppi_helper_give_back();
	assert_false(ppi_thread_is_own(tid));
}

/* As often as one likes, nested or not; calls run in the caller meanwhile. */
static void test_suspended_is_not_there(void **state)
{
	struct seen seen = { 0 };
	int64_t tid;

	(void)state;
	assert_false(ppi_helper_suspend());
	assert_int_equal(ppi_helper_take(NULL), 0);
	tid = ppi_helper_tid();
	assert_true(ppi_helper_suspend());
	assert_false(ppi_thread_is_own(tid));
	assert_int_equal(ppi_helper_tid(), 0);
	ppi_helper_call(look_around, &seen);
	assert_int_equal(seen.tid, ppi_thread_id());
	assert_true(ppi_helper_suspend());
	ppi_helper_resume();
	assert_int_equal(ppi_helper_tid(), 0);
	ppi_helper_resume();
	ppi_helper_call(look_around, &seen);
	assert_int_equal(seen.tid, ppi_helper_tid());
	assert_int_not_equal(seen.tid, ppi_thread_id());
	ppi_helper_give_back();
	assert_int_equal(ppi_helper_tid(), 0);
}

/* A task that counts its runs and asks for the next one at once, or never. */
struct counter {
	struct ppi_helper_task task;
	pthread_mutex_t lock;
	pthread_cond_t ran;
	int runs;
	unsigned pause_ms;
};

static unsigned count_run(struct ppi_helper_task *task)
{
	struct counter *counter = (struct counter *)task;

	pthread_mutex_lock(&counter->lock);
	counter->runs++;
	pthread_cond_broadcast(&counter->ran);
	pthread_mutex_unlock(&counter->lock);
	return counter->pause_ms;
}

static void wait_for_runs(struct counter *counter, int runs)
{
	pthread_mutex_lock(&counter->lock);
	while (counter->runs < runs)
		pthread_cond_wait(&counter->ran, &counter->lock);
	pthread_mutex_unlock(&counter->lock);
}

static void test_tasks_run_and_wake(void **state)
{
	struct counter often = { .task.run = count_run,
		                 .lock = PTHREAD_MUTEX_INITIALIZER,
		                 .ran = PTHREAD_COND_INITIALIZER };
	struct counter rarely = { .task.run = count_run,
		                  .lock = PTHREAD_MUTEX_INITIALIZER,
		                  .ran = PTHREAD_COND_INITIALIZER,
		                  .pause_ms = 3600 * 1000 };
	int last;

	(void)state;
	assert_int_equal(ppi_helper_take(NULL), 0);
	ppi_helper_add(&often.task);
	ppi_helper_add(&rarely.task);
	wait_for_runs(&often, 50);
	wait_for_runs(&rarely, 1);
	ppi_helper_wake(&rarely.task);
	wait_for_runs(&rarely, 2);
	ppi_helper_remove(&often.task);
	last = often.runs;
	ppi_helper_wake(&rarely.task);
	wait_for_runs(&rarely, 3);
	assert_int_equal(often.runs, last);
	ppi_helper_remove(&rarely.task);
	ppi_helper_give_back();
}

static void *take_and_call(void *context)
{
	for (int i = 0; i < 200; i++) {
		struct seen seen = { 0 };

		if (ppi_helper_take(NULL))
			return context;
		ppi_helper_call(look_around, &seen);
		if (seen.calls != 1 || seen.tid == ppi_thread_id())
			return context;
		ppi_helper_give_back();
	}
	return NULL;
}

/* Threads that take and give back at the same time: the helper ends and is
 * started again under their feet. */
#ifdef HAVE_SEM_CLOCKWAIT
static struct counter wished = { .task.run = count_run,
	                         .lock = PTHREAD_MUTEX_INITIALIZER,
	                         .ran = PTHREAD_COND_INITIALIZER,
	                         .pause_ms = 3600 * 1000 };

static void wish(int number)
{
	(void)number;
	ppi_helper_wish(&wished.task);
}

/* At once, not when the thread looks around next, which is half a second. */
static void test_a_handler_may_wish(void **state)
{
	struct sigaction ours = { .sa_handler = wish }, before;
	uint64_t began_ns;

	(void)state;
	assert_int_equal(sigaction(SIGUSR1, &ours, &before), 0);
	assert_int_equal(ppi_helper_take(NULL), 0);
	ppi_helper_add(&wished.task);
	wait_for_runs(&wished, 1);
	began_ns = ppi_monotonic_ns();
	for (int i = 0; i < 100; i++) {
		assert_int_equal(raise(SIGUSR1), 0);
		wait_for_runs(&wished, 2 + i);
	}
	assert_true(ppi_monotonic_ns() - began_ns <
	            100 * PPI_HELPER_LOOK_MS / 4 * UINT64_C(1000000));
	ppi_helper_remove(&wished.task);
	ppi_helper_give_back();
	sigaction(SIGUSR1, &before, NULL);
}
#endif

static void test_takers_in_many_threads(void **state)
{
	pthread_t threads[4];
	char marker;
	void *failed;

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL,
		                                take_and_call, &marker),
		                 0);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
	assert_int_equal(ppi_helper_tid(), 0);
}

static void test_manual_mode_has_no_thread(void **state)
{
	struct seen seen = { 0 };

	(void)state;
	ppi_helper_set_manual(true);
	assert_int_equal(ppi_helper_take(NULL), 0);
	ppi_helper_call(look_around, &seen);
	assert_int_equal(seen.tid, ppi_thread_id());
	ppi_helper_give_back();
	ppi_helper_set_manual(false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_on_demand_there_is_none_before),
		cmocka_unit_test(test_call_runs_in_the_helper),
		cmocka_unit_test(test_suspended_is_not_there),
		cmocka_unit_test(
			test_thread_lives_as_long_as_somebody_needs_it),
		cmocka_unit_test(test_tasks_run_and_wake),
#ifdef HAVE_SEM_CLOCKWAIT
		cmocka_unit_test(test_a_handler_may_wish),
#endif
		cmocka_unit_test(test_takers_in_many_threads),
		cmocka_unit_test(test_manual_mode_has_no_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
