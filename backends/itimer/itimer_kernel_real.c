/* SPDX-License-Identifier: MIT */
/* The system calls of the itimer backend, and nothing else. */
#include "config.h"

#include "backends/itimer/itimer_kernel.h"
#include "base/clock_ns.h"
#include "base/signals.h"
#include "base/thread.h"

#include <sys/time.h>

static uint64_t real_now_ns(void *self)
{
	uint64_t now = 0;

	(void)self;
	ppi_kernel_clock_ns(CLOCK_MONOTONIC, &now);
	return now;
}

static uint64_t real_tick_ns(void *self)
{
	(void)self;
	return ppi_kernel_tick_ns();
}

static unsigned real_cpu_count(void *self)
{
	(void)self;
	return ppi_cpu_count();
}

static int64_t real_process_id(void *self)
{
	(void)self;
	return getpid();
}

static int64_t real_thread_id(void *self)
{
	(void)self;
	return ppi_thread_id();
}

static int real_threads(void *self, int64_t *tids, size_t room, size_t *count)
{
	(void)self;
	return ppi_thread_list(tids, room, count);
}

static int real_thread_cpu(void *self, int64_t tid, uint64_t *ns)
{
	(void)self;
	return ppi_cpu_thread_ns(tid, ns);
}

static int real_process_cpu(void *self, uint64_t *ns)
{
	(void)self;
	return ppi_cpu_process_ns(ns);
}

static int real_action(void *self, const struct sigaction *next,
                       struct sigaction *before)
{
	(void)self;
	return sigaction(SIGPROF, next, before);
}

static int real_raise_again(void *self)
{
	(void)self;
	return raise(SIGPROF);
}

/* Linux sends what a timer of setitimer(2) says in the kernel's own name
 * (kernel/time/posix-cpu-timers.c, SEND_SIG_PRIV); elsewhere only what
 * processes send is known for that. */
static bool real_is_tick(void *self, const siginfo_t *info)
{
	(void)self;
#if defined(__linux__)
	return info->si_code == SI_KERNEL;
#else
	return info->si_code != SI_USER && info->si_code != SI_QUEUE;
#endif
}

static bool real_forward(void *self, siginfo_t *info, void *context)
{
	(void)self;
	return ppi_signal_share.forward &&
	       ppi_signal_share.forward(SIGPROF, info, context);
}

/* Rounded up: a first expiry of 0 would mean none. */
static struct timeval time_of(uint64_t ns)
{
	uint64_t us = (ns + 999u) / 1000u;

	return (struct timeval){ .tv_sec = (time_t)(us / 1000000u),
		                 .tv_usec = (suseconds_t)(us % 1000000u) };
}

static uint64_t ns_of(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000000u +
	       (uint64_t)time->tv_usec * 1000u;
}

static struct itimer_value value_of(const struct itimerval *timer)
{
	return (struct itimer_value){ .left_ns = ns_of(&timer->it_value),
		                      .every_ns = ns_of(&timer->it_interval) };
}

static int real_set(void *self, const struct itimer_value *next,
                    struct itimer_value *before)
{
	struct itimerval now = { .it_interval = time_of(next->every_ns),
		                 .it_value = time_of(next->left_ns) };
	struct itimerval was;

	(void)self;
	if (setitimer(ITIMER_PROF, &now, &was) != 0)
		return -1;
	*before = value_of(&was);
	return 0;
}

static int real_get(void *self, struct itimer_value *now)
{
	struct itimerval timer;

	(void)self;
	if (getitimer(ITIMER_PROF, &timer) != 0)
		return -1;
	*now = value_of(&timer);
	return 0;
}

static int real_try_set(void *self)
{
	const struct itimerval none = { .it_value = { .tv_usec = -1 } };

	(void)self;
	return setitimer(ITIMER_PROF, &none, NULL);
}

static void real_pause(void *self)
{
	struct timespec moment = { 0, 50000 };

	(void)self;
	nanosleep(&moment, NULL);
}

const struct itimer_kernel ppi_itimer_kernel_real = {
	.now_ns = real_now_ns,
	.tick_ns = real_tick_ns,
	.cpu_count = real_cpu_count,
	.process_id = real_process_id,
	.thread_id = real_thread_id,
	.threads = real_threads,
	.thread_cpu = real_thread_cpu,
	.process_cpu = real_process_cpu,
	.action = real_action,
	.raise_again = real_raise_again,
	.is_tick = real_is_tick,
	.forward = real_forward,
	.set = real_set,
	.get = real_get,
	.try_set = real_try_set,
	.pause = real_pause,
	.self = NULL,
};
