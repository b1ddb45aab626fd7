/* SPDX-License-Identifier: MIT */
/* POSIX timers on CPU clocks of threads, simulated. */
#include "tests/sim/timer_sim.h"

#include "tests/sim/clock.h"
#include "tests/sim/signals.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { TIMERS = 512, EVERY_NS = 10000000 };

struct sim_timer {
	bool is_there;
	struct sim_thread *thread; /* NULL when it has ended */
	int64_t tid;               /* whom to tell */
	int signo;
	void *tag;
	uint64_t expires_ns;       /* of the thread's clock; 0 = disarmed */
	uint64_t every_ns;
	bool is_pending;           /* its one signal is queued */
};

static struct {
	struct sim_timer timers[TIMERS];
	unsigned limit;
} sim;

/* Calls come from any thread; a handler runs inside a call of the program. */
static pthread_mutex_t lock;

static void init_lock(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&lock, &attr);
	pthread_mutexattr_destroy(&attr);
}

/* ---- faults: errnos from the manual pages ---- */

enum call { THREADS, THREAD_CPU, PROCESS_CPU, LOOK, INSTALL, CREATE, SET, LEFT,
	    CALLS };

/* Not among them: timer_delete(2), disarming, and putting back an action that
 * was there before, which cannot fail with arguments that were once right. */
static const struct sim_fault calls[CALLS] = {
	[THREADS] = { "threads", { EMFILE, ENFILE, ENOMEM, ENOENT } },
	[THREAD_CPU] = { "thread_cpu", { ESRCH } },
	[PROCESS_CPU] = { "process_cpu", { EINVAL } },
	[LOOK] = { "action (look)", { EINVAL } },
	[INSTALL] = { "action (install)", { EINVAL } },
	[CREATE] = { "create", { EAGAIN, EINVAL, ENOMEM } },
	[SET] = { "set", { EINVAL, ESRCH } },
	[LEFT] = { "left", { EINVAL } },
};

struct sim_faults timer_sim_faults = { .calls = calls, .count = CALLS };

static bool strikes(enum call call)
{
	return sim_faults_strike(&timer_sim_faults, call);
}

/* ---- what a tick does ---- */

/*
 * One signal a timer can be queued; what expires meanwhile is only an overrun
 * ([timers] posix_timer_queue_signal). A timer with an interval is set again
 * when its signal is delivered, past all that has expired ([timers]
 * posixtimer_rearm, [cpu-timers] bump_cpu_timer).
 */
static void deliver(struct sim_timer *timer)
{
	struct sim_thread *thread = timer->thread;
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_signo = timer->signo;
	info.si_code = SI_TIMER;
	info.si_value.sival_ptr = timer->tag;
	timer->is_pending = false;
	if (!timer->every_ns)
		timer->expires_ns = 0;
	while (timer->expires_ns && timer->expires_ns <= thread->cpu_ns)
		timer->expires_ns += timer->every_ns;
	sim_signals_deliver(thread, &info);
}

/* The timers of the thread that the tick meets are looked at, no others
 * ([cpu-timers] run_posix_cpu_timers). */
static void on_tick(struct sim_thread *thread)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < TIMERS; i++) {
		struct sim_timer *timer = &sim.timers[i];

		if (timer->is_there && timer->thread == thread &&
		    timer->expires_ns && timer->expires_ns <= thread->cpu_ns)
			timer->is_pending = true;
	}
	pthread_mutex_unlock(&lock);
}

static void on_return_to_user(struct sim_thread *thread)
{
	for (size_t i = 0; i < TIMERS; i++) {
		struct sim_timer *timer = &sim.timers[i];

		if (timer->is_there && timer->is_pending &&
		    timer->thread == thread && !thread->blocks_signals)
			deliver(timer);
	}
}

/* The timer stays, with nothing to run on, until it is deleted [run]. */
static void on_end(struct sim_thread *thread)
{
	for (size_t i = 0; i < TIMERS; i++)
		if (sim.timers[i].thread == thread)
			sim.timers[i].thread = NULL;
}

/* ---- the calls ---- */

static uint64_t sim_now_ns(void *self)
{
	(void)self;
	return sim_clock_now();
}

static uint64_t sim_tick_ns(void *self)
{
	(void)self;
	return TIMER_SIM_TICK_NS;
}

static unsigned sim_cpu_count(void *self)
{
	(void)self;
	return TIMER_SIM_CPUS;
}

/* A test that forks is a forked process. */
static int64_t sim_process_id(void *self)
{
	(void)self;
	return getpid();
}

static int sim_threads(void *self, int64_t *tids, size_t room, size_t *count)
{
	size_t found = 0;

	(void)self;
	if (strikes(THREADS))
		return -1;
	for (unsigned i = FX_THREADS; i-- > 0;) {
		struct sim_thread *thread = sim_program_thread(i);

		if (thread && found < room)
			tids[found] = thread->tid;
		found += thread != NULL;
	}
	*count = found;
	return 0;
}

static int sim_thread_cpu(void *self, int64_t tid, uint64_t *ns)
{
	struct sim_thread *thread = tid ? sim_program_find(tid) :
	                                  sim_signals_current();

	(void)self;
	if (strikes(THREAD_CPU))
		return -1;
	if (!thread) {
		errno = ESRCH;
		return -1;
	}
	*ns = thread->cpu_ns;
	return 0;
}

static int sim_process_cpu(void *self, uint64_t *ns)
{
	(void)self;
	if (strikes(PROCESS_CPU))
		return -1;
	*ns = sim_program_cpu_ns();
	return 0;
}

static void sim_signal_range(void *self, int *first, int *last)
{
	(void)self;
	*first = SIM_RT_FIRST;
	*last = SIM_RT_LAST;
}

static int sim_action(void *self, int signo, const struct sigaction *next,
                      struct sigaction *before)
{
	int result;

	(void)self;
	if (!next && strikes(LOOK))
		return -1;
	if (next && (next->sa_flags & SA_SIGINFO) && strikes(INSTALL))
		return -1;
	pthread_mutex_lock(&lock);
	result = sim_signals_action(signo, next, before);
	pthread_mutex_unlock(&lock);
	return result;
}

static bool sim_forward(void *self, int signo, siginfo_t *info, void *context)
{
	(void)self;
	(void)info;
	(void)context;
	return sim_signals_forward(signo);
}

static int sim_raise_again(void *self, int signo)
{
	(void)self;
	return sim_signals_raise(signo);
}

static struct sim_timer *free_timer(void)
{
	unsigned used = 0;
	struct sim_timer *found = NULL;

	for (size_t i = 0; i < TIMERS; i++) {
		used += sim.timers[i].is_there;
		if (!found && !sim.timers[i].is_there)
			found = &sim.timers[i];
	}
	return used < sim.limit ? found : NULL;
}

/* EAGAIN: there is no sigqueue ([man]; [timers] do_timer_create). EINVAL: a
 * clock of no thread of this process ([cpu-timers] pid_for_clock). */
static int sim_create(void *self, int64_t tid, int signo, void *tag,
                      uint64_t *id)
{
	struct sim_thread *thread = sim_program_find(tid);
	struct sim_timer *timer = NULL;

	(void)self;
	if (strikes(CREATE))
		return -1;
	pthread_mutex_lock(&lock);
	if (thread)
		timer = free_timer();
	if (timer) {
		memset(timer, 0, sizeof(*timer));
		timer->is_there = true;
		timer->thread = thread;
		timer->tid = tid;
		timer->signo = signo;
		timer->tag = tag;
		*id = (uint64_t)(timer - sim.timers);
	}
	pthread_mutex_unlock(&lock);
	if (!timer)
		errno = thread ? EAGAIN : EINVAL;
	return timer ? 0 : -1;
}

static struct sim_timer *timer_of(uint64_t id)
{
	struct sim_timer *timer = id < TIMERS ? &sim.timers[id] : NULL;

	if (timer && timer->is_there)
		return timer;
	errno = EINVAL;
	return NULL;
}

/* ESRCH when the thread has ended [run]. A signal that is still queued from
 * before is dropped ([timers] posixtimer_deliver_signal). */
static int sim_set(void *self, uint64_t id, uint64_t first_ns,
                   uint64_t every_ns)
{
	struct sim_timer *timer = timer_of(id);

	(void)self;
	if (!timer || (first_ns && strikes(SET)))
		return -1;
	if (!timer->thread) {
		errno = ESRCH;
		return -1;
	}
	pthread_mutex_lock(&lock);
	timer->expires_ns = first_ns ? timer->thread->cpu_ns + first_ns : 0;
	timer->every_ns = every_ns;
	timer->is_pending = false;
	pthread_mutex_unlock(&lock);
	return 0;
}

/* 1 ns for one that has expired and was not looked at yet, 0 for one whose
 * thread has ended [run]. */
static int sim_left(void *self, uint64_t id, uint64_t *ns)
{
	struct sim_timer *timer = timer_of(id);

	(void)self;
	if (!timer || strikes(LEFT))
		return -1;
	*ns = 0;
	if (timer->thread && timer->expires_ns)
		*ns = timer->expires_ns > timer->thread->cpu_ns ?
		              timer->expires_ns - timer->thread->cpu_ns : 1;
	return 0;
}

static int sim_destroy(void *self, uint64_t id)
{
	struct sim_timer *timer = timer_of(id);

	(void)self;
	if (!timer)
		return -1;
	pthread_mutex_lock(&lock);
	timer->is_there = false;
	pthread_mutex_unlock(&lock);
	return 0;
}

static void sim_pause(void *self)
{
	(void)self;
}

const struct timer_kernel timer_sim_kernel = {
	.now_ns = sim_now_ns,
	.tick_ns = sim_tick_ns,
	.cpu_count = sim_cpu_count,
	.process_id = sim_process_id,
	.threads = sim_threads,
	.thread_cpu = sim_thread_cpu,
	.process_cpu = sim_process_cpu,
	.signal_range = sim_signal_range,
	.action = sim_action,
	.raise_again = sim_raise_again,
	.forward = sim_forward,
	.create = sim_create,
	.set = sim_set,
	.left = sim_left,
	.destroy = sim_destroy,
	.pause = sim_pause,
	.self = NULL,
};

/* ---- the machine ---- */

static const struct sim_machine machine = {
	.cpus = TIMER_SIM_CPUS,
	.tick_ns = TIMER_SIM_TICK_NS,
	.tick = on_tick,
	.to_user = on_return_to_user,
	.ended = on_end,
};

void timer_sim_reset(void (*every)(void))
{
	static bool has_lock;

	if (!has_lock)
		init_lock();
	has_lock = true;
	sim_program_reset(&machine);
	sim_signals_reset();
	sim_clock_reset(every, EVERY_NS);
	memset(&sim, 0, sizeof(sim));
	sim.limit = TIMERS;
	sim_faults_plan(&timer_sim_faults, 0, 0, 0);
}

void timer_sim_limit(unsigned timers)
{
	sim.limit = timers;
}

void timer_sim_kill(int signo)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_signo = signo;
	info.si_code = SI_USER;
	sim_signals_deliver(sim_program_thread(0), &info);
}

size_t timer_sim_timers(void)
{
	size_t count = 0;

	for (size_t i = 0; i < TIMERS; i++)
		count += sim.timers[i].is_there;
	return count;
}

size_t timer_sim_held(void)
{
	return timer_sim_timers() + sim_signals_held();
}
