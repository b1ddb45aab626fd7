/* SPDX-License-Identifier: MIT */
/* The one helper thread: its life, calls run in it, tasks run now and then. */
#include "config.h"

#include "api/internal/helper.h"

#include "compat/clock_ns.h"
#include "compat/thread.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

/* A call somebody waits for. */
struct call {
	void (*function)(void *context);
	void *context;
	bool is_done;
};

static struct helper {
	pthread_mutex_t lock;
	pthread_cond_t work;   /* the thread has something to do */
	pthread_cond_t done;   /* a call or a task has ended */
	pthread_t thread;
	int64_t tid;
	struct timespec used;  /* CPU time, before it waited last */
	unsigned takers;
	bool is_up, should_end, is_manual;
	bool is_changing; /* being started or ended: takers wait */
	struct call *call;
	struct ppi_helper_task *tasks;
} helper = { .lock = PTHREAD_MUTEX_INITIALIZER,
	     .done = PTHREAD_COND_INITIALIZER };

static void run_call(void)
{
	struct call *call = helper.call;

	helper.call = NULL;
	pthread_mutex_unlock(&helper.lock);
	call->function(call->context);
	pthread_mutex_lock(&helper.lock);
	call->is_done = true;
	pthread_cond_broadcast(&helper.done);
}

static void run_task(struct ppi_helper_task *task)
{
	unsigned pause_ms;

	task->is_running = true;
	task->due_ns = UINT64_MAX;
	pthread_mutex_unlock(&helper.lock);
	pause_ms = task->run(task);
	pthread_mutex_lock(&helper.lock);
	task->is_running = false;
	if (task->due_ns == UINT64_MAX) /* not woken meanwhile */
		task->due_ns = ppi_monotonic_ns() + (uint64_t)pause_ms * 1000000u;
	pthread_cond_broadcast(&helper.done);
}

static struct ppi_helper_task *earliest_task(void)
{
	struct ppi_helper_task *first = helper.tasks;

	for (struct ppi_helper_task *t = first; t; t = t->next)
		if (t->due_ns < first->due_ns)
			first = t;
	return first;
}

static void wait_for_work(const struct ppi_helper_task *next)
{
	struct timespec until;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &helper.used);
	if (!next) {
		pthread_cond_wait(&helper.work, &helper.lock);
		return;
	}
	until.tv_sec = (time_t)(next->due_ns / 1000000000u);
	until.tv_nsec = (long)(next->due_ns % 1000000000u);
	pthread_cond_timedwait(&helper.work, &helper.lock, &until);
}

static void *helper_main(void *unused)
{
	(void)unused;
	ppi_thread_set_name("portprof");
	pthread_mutex_lock(&helper.lock);
	helper.tid = ppi_thread_id();
	helper.is_up = true;
	pthread_cond_broadcast(&helper.done);
	while (!helper.should_end) {
		struct ppi_helper_task *next = earliest_task();

		if (helper.call)
			run_call();
		else if (next && next->due_ns <= ppi_monotonic_ns())
			run_task(next);
		else
			wait_for_work(next);
	}
	pthread_mutex_unlock(&helper.lock);
	return NULL;
}

/* Waits on the monotonic clock: setting the date must not stop the drain. */
static void init_work_condition(void)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&helper.work, &attr);
	pthread_condattr_destroy(&attr);
}

static portprof_status start_thread(struct ppi_diag *why)
{
	sigset_t all, before;
	int error;

	init_work_condition();
	helper.should_end = helper.is_up = false;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	error = pthread_create(&helper.thread, NULL, helper_main, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error)
		return ppi_fail(why, PORTPROF_E_LIMIT, error,
		                "start helper thread",
		                "cannot start the helper thread: %s; raise "
		                "the limit of threads (ulimit -u)",
		                strerror(error));
	/* the lock is given up here: is_changing keeps other takers from
	 * starting a second one */
	helper.is_changing = true;
	while (!helper.is_up)
		pthread_cond_wait(&helper.done, &helper.lock);
	helper.is_changing = false;
	pthread_cond_broadcast(&helper.done);
	return PORTPROF_OK;
}

portprof_status ppi_helper_take(struct ppi_diag *why)
{
	portprof_status status = PORTPROF_OK;

	pthread_mutex_lock(&helper.lock);
	while (helper.is_changing)
		pthread_cond_wait(&helper.done, &helper.lock);
	if (helper.takers == 0 && !helper.is_manual)
		status = start_thread(why);
	if (status == PORTPROF_OK)
		helper.takers++;
	pthread_mutex_unlock(&helper.lock);
	return status;
}

/* Called with the lock held; it is given up while the thread ends, and
 * is_changing keeps takers waiting meanwhile. */
static void end_thread(void)
{
	helper.should_end = helper.is_changing = true;
	pthread_cond_signal(&helper.work);
	pthread_mutex_unlock(&helper.lock);
	pthread_join(helper.thread, NULL);
	pthread_mutex_lock(&helper.lock);
	helper.is_up = helper.is_changing = false;
	helper.tid = 0;
	pthread_cond_destroy(&helper.work);
	pthread_cond_broadcast(&helper.done);
}

void ppi_helper_give_back(void)
{
	pthread_mutex_lock(&helper.lock);
	if (--helper.takers == 0 && helper.is_up)
		end_thread();
	pthread_mutex_unlock(&helper.lock);
}

int64_t ppi_helper_tid(void)
{
	return helper.tid;
}

static bool runs_inline(void)
{
	return helper.is_manual ||
	       (helper.is_up && pthread_equal(pthread_self(), helper.thread));
}

void ppi_helper_call(void (*function)(void *context), void *context)
{
	struct call call = { function, context, false };

	pthread_mutex_lock(&helper.lock);
	if (runs_inline()) {
		pthread_mutex_unlock(&helper.lock);
		function(context);
		return;
	}
	while (helper.call)
		pthread_cond_wait(&helper.done, &helper.lock);
	helper.call = &call;
	pthread_cond_signal(&helper.work);
	while (!call.is_done)
		pthread_cond_wait(&helper.done, &helper.lock);
	pthread_mutex_unlock(&helper.lock);
}

void ppi_helper_wake(struct ppi_helper_task *task)
{
	pthread_mutex_lock(&helper.lock);
	task->due_ns = ppi_monotonic_ns();
	if (helper.is_up)
		pthread_cond_signal(&helper.work);
	pthread_mutex_unlock(&helper.lock);
}

void ppi_helper_add(struct ppi_helper_task *task)
{
	pthread_mutex_lock(&helper.lock);
	task->is_running = false;
	task->next = helper.tasks;
	helper.tasks = task;
	pthread_mutex_unlock(&helper.lock);
	ppi_helper_wake(task);
}

void ppi_helper_remove(struct ppi_helper_task *task)
{
	struct ppi_helper_task **at = &helper.tasks;

	pthread_mutex_lock(&helper.lock);
	while (*at && *at != task)
		at = &(*at)->next;
	if (*at)
		*at = task->next;
	while (task->is_running && !runs_inline())
		pthread_cond_wait(&helper.done, &helper.lock);
	pthread_mutex_unlock(&helper.lock);
}

/* illumos tells a thread's CPU time to that thread alone: there it is as of
 * its last wait. */
static struct timespec cpu_time(void)
{
	struct timespec used = helper.used;
#ifdef HAVE_PTHREAD_GETCPUCLOCKID
	clockid_t clock;

	if (pthread_getcpuclockid(helper.thread, &clock) == 0)
		clock_gettime(clock, &used);
#endif
	return used;
}

uint64_t ppi_helper_cpu_ns(void)
{
	struct timespec used = { 0, 0 };

	pthread_mutex_lock(&helper.lock);
	if (helper.is_up && !helper.is_manual)
		used = cpu_time();
	pthread_mutex_unlock(&helper.lock);
	return ppi_ns_of(&used);
}

void ppi_helper_set_manual(bool manual)
{
	helper.is_manual = manual;
}

void ppi_helper_run_tasks(void)
{
	for (struct ppi_helper_task *t = helper.tasks; t; t = t->next)
		t->run(t);
}

void ppi_helper_before_fork(void)
{
	pthread_mutex_lock(&helper.lock);
}

void ppi_helper_after_fork_in_parent(void)
{
	pthread_mutex_unlock(&helper.lock);
}

/* Threads do not survive a fork: the child has no helper, and nobody waits
 * on its conditions. The lock is this thread's, from before the fork. */
void ppi_helper_after_fork_in_child(void)
{
	pthread_cond_init(&helper.done, NULL);
	helper.tid = 0;
	helper.takers = 0;
	helper.is_up = helper.should_end = helper.is_changing = false;
	helper.call = NULL;
	helper.tasks = NULL;
	pthread_mutex_unlock(&helper.lock);
}
