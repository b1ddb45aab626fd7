/* SPDX-License-Identifier: MIT */
/* The one helper thread: its life, calls run in it, tasks run now and then. */
#include "config.h"

#include "api/core/helper.h"

#include "base/clock_ns.h"
#include "base/fork_guard.h"
#include "base/memory.h"
#include "base/thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef HAVE_SEM_CLOCKWAIT
#include <semaphore.h>
#endif

/* A call somebody waits for. */
struct call {
	void (*function)(void *context);
	void *context;
	bool is_done;
};

static struct helper {
	pthread_mutex_t lock;
#ifdef HAVE_SEM_CLOCKWAIT /* glibc 2.30: a signal handler may post it */
	sem_t work;            /* the thread has something to do */
#else
	pthread_cond_t work;
#endif
	pthread_cond_t done;   /* a call or a task has ended */
	pthread_t thread;
	_Atomic long tid; /* 0: there is none */
	_Atomic long owner; /* the process that started it */
	unsigned takers;
	bool is_up, should_end, is_manual;
	bool is_late;     /* it is taken and to be started by ppi_helper_begin, */
	bool is_on_demand; /* by who has promised to */
	bool is_changing; /* being started or ended: takers wait */
	bool is_gone;     /* there is none: it has ended by itself, see below,
	                   * or could not be started again */
	bool has_thread;  /* to be joined */
	unsigned suspensions;
	uint64_t look_ns; /* when to look whether they have */
	int exit_status;  /* of the first of them */
	struct call *call;
	struct ppi_helper_task *tasks;
} helper = { .lock = PTHREAD_MUTEX_INITIALIZER,
	     .done = PTHREAD_COND_INITIALIZER };

/* ---- the thread waits, and is woken ---- */

/* On the monotonic clock: setting the date must not stop the drain. */
#ifdef HAVE_SEM_CLOCKWAIT
static void init_work(void)
{
	sem_init(&helper.work, 0, 0);
}

static void destroy_work(void)
{
	sem_destroy(&helper.work);
}

static void signal_work(void)
{
	sem_post(&helper.work);
}

static void signal_from_handler(void)
{
	sem_post(&helper.work);
}

static void wait_until(const struct timespec *until)
{
	pthread_mutex_unlock(&helper.lock);
	sem_clockwait(&helper.work, CLOCK_MONOTONIC, until);
	pthread_mutex_lock(&helper.lock);
}
#else
static void init_work(void)
{
	ppi_condition_init(&helper.work);
}

static void destroy_work(void)
{
	pthread_cond_destroy(&helper.work);
}

static void signal_work(void)
{
	pthread_cond_signal(&helper.work);
}

/* No condition may be signalled there: the thread looks when it was to. */
static void signal_from_handler(void)
{
}

static void wait_until(const struct timespec *until)
{
	pthread_cond_timedwait(&helper.work, &helper.lock, until);
}
#endif

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

	for (struct ppi_helper_task *t = first; t; t = t->next) {
		if (atomic_exchange(&t->is_wished, false))
			t->due_ns = 0;
		if (t->due_ns < first->due_ns)
			first = t;
	}
	return first;
}

/*
 * A process ends with its last thread, and that must not be ours: when the
 * program's threads have all called pthread_exit(3), this one returns, too.
 * Then the C library ends the process from here, with its exit handlers; so
 * from that moment on whatever is asked of the helper is done by who asks. The
 * system takes the exit status from the thread that ends last (Linux 5.17, do_exit),
 * and a first thread that ended with one of its own did so by a raw exit(2).
 */
static bool is_last_thread(void)
{
	uint64_t now_ns = ppi_monotonic_ns();

	if (now_ns < helper.look_ns)
		return false;
	helper.look_ns = now_ns + PPI_HELPER_LOOK_MS * UINT64_C(1000000);
	return ppi_thread_is_last(&helper.exit_status);
}

/* Who is woken for a task soon looks then. */
#define LOOK_LATE_NS (PPI_HELPER_LOOK_MS * UINT64_C(500000))

static void wait_for_work(const struct ppi_helper_task *next)
{
	uint64_t due_ns = helper.look_ns;
	struct timespec until;

	ppi_cpu_helper_mark();
	if (next && next->due_ns < due_ns + LOOK_LATE_NS)
		due_ns = next->due_ns;
	until.tv_sec = (time_t)(due_ns / 1000000000u);
	until.tv_nsec = (long)(due_ns % 1000000000u);
	wait_until(&until);
}

static void work(void)
{
	struct ppi_helper_task *next = earliest_task();

	if (helper.call)
		run_call();
	else if (next && next->due_ns <= ppi_monotonic_ns())
		run_task(next);
	else
		wait_for_work(next);
}

/* A callback has called pthread_exit. Whoever waits for its task continues, and
 * what is asked of the thread is done by who asks, as above. */
static void go_in_callback(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&helper.lock);
	for (struct ppi_helper_task *t = helper.tasks; t; t = t->next)
		t->is_running = false;
	helper.is_up = false;
	helper.is_gone = true;
	pthread_cond_broadcast(&helper.done);
	pthread_mutex_unlock(&helper.lock);
}

static void *helper_main(void *unused)
{
	(void)unused;
	ppi_thread_set_name("portprof");
	pthread_cleanup_push(go_in_callback, NULL);
	pthread_mutex_lock(&helper.lock);
	helper.thread = pthread_self();
	helper.has_thread = true;
	helper.tid = (long)ppi_thread_id();
	ppi_cpu_helper_begin(helper.tid);
	helper.is_up = true;
	pthread_cond_broadcast(&helper.done);
	while (!helper.should_end && !helper.is_gone) {
		work();
		helper.is_gone = is_last_thread();
	}
	if (helper.is_gone)
		helper.is_up = false;
	pthread_mutex_unlock(&helper.lock);
	pthread_cleanup_pop(0);
	if (helper.is_gone && helper.exit_status)
		_exit(helper.exit_status);
	return NULL;
}

/*
 * As any thread of the program has it, for callbacks of the program's run
 * there; but where memory is limited it takes as little of that as it can, and
 * never less than it needs. A program with large thread-local data has room
 * for none in a small stack: then it is the usual one again.
 */
static int create_thread(pthread_t *thread)
{
	size_t bytes = 0;
	pthread_attr_t attr;
	int error;

	ppi_memory_spare();
	pthread_attr_init(&attr);
	pthread_attr_getstacksize(&attr, &bytes);
	if (bytes < PPI_HELPER_STACK || ppi_memory_is_limited())
		pthread_attr_setstacksize(&attr, PPI_HELPER_STACK);
	error = pthread_create(thread, &attr, helper_main, NULL);
	pthread_attr_destroy(&attr);
	if (error == EINVAL)
		error = pthread_create(thread, NULL, helper_main, NULL);
	return error;
}

/* Who may start no thread at all is not helped by a higher limit. */
static portprof_status refuse_thread(int error, struct ppi_diag *why)
{
	bool is_forbidden = error == EPERM || error == EACCES;

	return ppi_fail(why, is_forbidden ? PORTPROF_E_SYSTEM : PORTPROF_E_LIMIT,
	                error, "start helper thread",
	                "cannot start the helper thread: %s; %s", strerror(error),
	                is_forbidden ? "a filter of system calls (seccomp) "
	                               "forbids threads: allow clone3 and clone"
	                             : "raise the limit of threads (ulimit -u)");
}

static portprof_status create(struct ppi_diag *why)
{
	sigset_t all, before;
	pthread_t thread;
	int error;

	init_work();
	helper.owner = getpid();
	helper.should_end = helper.is_up = false;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	/* Without the lock: a fork that waits for it holds the one that NetBSD
	 * takes here. is_changing keeps other takers from starting a second
	 * one. */
	helper.is_changing = true;
	pthread_mutex_unlock(&helper.lock);
	error = create_thread(&thread);
	pthread_mutex_lock(&helper.lock);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	helper.has_thread = error == 0;
	if (!error)
		helper.thread = thread; /* it may not have begun yet */
	helper.is_changing = false;
	pthread_cond_broadcast(&helper.done);
	return error ? refuse_thread(error, why) : PORTPROF_OK;
}

static portprof_status start_thread(struct ppi_diag *why)
{
	portprof_status status;

	helper.is_late = false;
	status = create(why);
	if (status)
		return status;
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
	if ((helper.takers == 0 || helper.is_late) && !helper.is_manual &&
	    !helper.is_gone && !helper.suspensions)
		status = start_thread(why);
	if (status == PORTPROF_OK)
		helper.takers++;
	pthread_mutex_unlock(&helper.lock);
	return status;
}

void ppi_helper_take_later(void)
{
	pthread_mutex_lock(&helper.lock);
	while (helper.is_changing)
		pthread_cond_wait(&helper.done, &helper.lock);
	if (helper.takers++ == 0)
		helper.is_late = !helper.is_manual && !helper.is_gone &&
		                 !helper.suspensions;
	pthread_mutex_unlock(&helper.lock);
}

/* Nobody waits for it to come up: most processes that are recorded have done
 * their work before. */
void ppi_helper_begin(void)
{
	struct ppi_diag unused;

	pthread_mutex_lock(&helper.lock);
	while (helper.is_changing)
		pthread_cond_wait(&helper.done, &helper.lock);
	if (helper.is_late && !helper.suspensions) {
		helper.is_late = false;
		helper.is_gone = create(&unused) != PORTPROF_OK;
	}
	pthread_mutex_unlock(&helper.lock);
}

void ppi_helper_promise_to_begin(void)
{
	helper.is_on_demand = true;
}

bool ppi_helper_begins_on_demand(void)
{
	bool is_late;

	pthread_mutex_lock(&helper.lock);
	is_late = helper.is_on_demand && helper.is_late;
	pthread_mutex_unlock(&helper.lock);
	return is_late && ppi_thread_is_only();
}

/* It is there, and its number is not known yet. */
static void wait_until_up(void)
{
	while (helper.has_thread && !helper.is_up && !helper.is_gone)
		pthread_cond_wait(&helper.done, &helper.lock);
}

/* Called with the lock held; it is given up while the thread ends, and
 * is_changing keeps takers waiting meanwhile. */
static void end_thread(void)
{
	if (!helper.has_thread) {
		helper.is_gone = false;
		return;
	}
	if (ppi_heir.is_ending)
		return;
	helper.should_end = helper.is_changing = true;
	signal_work();
	pthread_mutex_unlock(&helper.lock);
	pthread_join(helper.thread, NULL);
	pthread_mutex_lock(&helper.lock);
	helper.is_up = helper.is_changing = helper.is_gone = false;
	helper.has_thread = false;
	helper.tid = 0;
	ppi_cpu_helper_end();
	destroy_work();
	pthread_cond_broadcast(&helper.done);
}

void ppi_helper_give_back(void)
{
	pthread_mutex_lock(&helper.lock);
	if (--helper.takers == 0) {
		helper.is_late = false;
		end_thread();
	}
	pthread_mutex_unlock(&helper.lock);
}

int64_t ppi_helper_tid(void)
{
	if (helper.tid || !helper.has_thread)
		return helper.tid;
	pthread_mutex_lock(&helper.lock);
	wait_until_up();
	pthread_mutex_unlock(&helper.lock);
	return helper.tid;
}

bool ppi_helper_is_ours(void)
{
	return helper.owner == getpid();
}

static bool runs_inline(void)
{
	return helper.is_manual || helper.is_gone || helper.is_late ||
	       helper.suspensions ||
	       (helper.is_up && pthread_equal(pthread_self(), helper.thread));
}

/* pthread_join(3) returns when the thread has given its stack back, and the
 * kernel counts it among the process's for a moment more. */
static void wait_until_gone(int64_t tid)
{
	struct timespec nap = { 0, 20000 };

	for (int i = 0; i < 5000 && ppi_thread_is_own(tid); i++)
		nanosleep(&nap, NULL);
}

bool ppi_helper_suspend(void)
{
	int64_t tid;

	pthread_mutex_lock(&helper.lock);
	while (helper.is_changing)
		pthread_cond_wait(&helper.done, &helper.lock);
	wait_until_up();
	tid = helper.tid;
	if (!helper.suspensions && (!helper.is_up || runs_inline())) {
		pthread_mutex_unlock(&helper.lock);
		return false;
	}
	if (helper.is_up)
		end_thread();
	else
		tid = 0;
	helper.suspensions++;
	pthread_mutex_unlock(&helper.lock);
	if (tid)
		wait_until_gone(tid);
	return true;
}

/* Where it cannot be started, as in a process whose children come to another
 * PID namespace (clone(2)), calls run in the caller from now on. */
void ppi_helper_resume(void)
{
	struct ppi_diag unused;

	pthread_mutex_lock(&helper.lock);
	if (--helper.suspensions == 0 && helper.takers && !helper.is_late)
		helper.is_gone = start_thread(&unused) != PORTPROF_OK;
	pthread_mutex_unlock(&helper.lock);
}

/* The thread was suspended before it came to this call. */
static bool is_left(const struct call *call)
{
	return helper.suspensions && helper.call == call;
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
	while (helper.call && !helper.is_gone)
		pthread_cond_wait(&helper.done, &helper.lock);
	helper.call = &call;
	signal_work();
	while (!call.is_done && !helper.is_gone && !is_left(&call))
		pthread_cond_wait(&helper.done, &helper.lock);
	if (helper.call == &call)
		helper.call = NULL;
	pthread_mutex_unlock(&helper.lock);
	if (!call.is_done)
		function(context);
}

void ppi_helper_wake(struct ppi_helper_task *task)
{
	ppi_helper_wake_in(task, 0);
}

void ppi_helper_wake_in(struct ppi_helper_task *task, unsigned ms)
{
	pthread_mutex_lock(&helper.lock);
	task->due_ns = ppi_monotonic_ns() + (uint64_t)ms * 1000000u;
	if (helper.is_up)
		signal_work();
	pthread_mutex_unlock(&helper.lock);
}

void ppi_helper_wish(struct ppi_helper_task *task)
{
	atomic_store(&task->is_wished, true);
	signal_from_handler();
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

uint64_t ppi_helper_cpu_ns(void)
{
	uint64_t used_ns = 0;

	pthread_mutex_lock(&helper.lock);
	if (helper.is_up && !helper.is_manual)
		ppi_cpu_thread_ns(PPI_CPU_HELPER, &used_ns);
	pthread_mutex_unlock(&helper.lock);
	return used_ns;
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
	helper.tid = helper.owner = 0;
	ppi_cpu_helper_end();
	helper.takers = 0;
	helper.is_up = helper.should_end = helper.is_changing = false;
	helper.is_gone = helper.has_thread = helper.is_late = false;
	helper.suspensions = 0;
	helper.call = NULL;
	helper.tasks = NULL;
	pthread_mutex_unlock(&helper.lock);
}

bool ppi_helper_renew(void)
{
	if (!helper.owner || ppi_helper_is_ours())
		return false;
	pthread_mutex_init(&helper.lock, NULL);
	pthread_mutex_lock(&helper.lock);
	ppi_helper_after_fork_in_child();
	return true;
}
