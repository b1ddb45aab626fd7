/* SPDX-License-Identifier: MIT */
/* The system calls of the itimer backend, and nothing else. */
#include "config.h"

#include "backends/itimer/itimer_kernel.h"
#include "compat/clock_ns.h"
#include "compat/thread.h"
#include "compat/thread_list.h"

#include <sys/time.h>

static uint64_t real_now_ns(void *self)
{
	uint64_t now = 0;

	(void)self;
	ppi_clock_ns(CLOCK_MONOTONIC, &now);
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
	return ppi_thread_cpu_ns(tid, ns);
}

static int real_process_cpu(void *self, uint64_t *ns)
{
	(void)self;
	return ppi_clock_ns(CLOCK_PROCESS_CPUTIME_ID, ns);
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

static int real_set(void *self, uint64_t first_ns, uint64_t every_ns)
{
	struct itimerval next = { .it_interval = time_of(every_ns),
		                  .it_value = time_of(first_ns) };

	(void)self;
	return setitimer(ITIMER_PROF, &next, NULL);
}

static int real_get(void *self, uint64_t *every_ns, uint64_t *left_ns)
{
	struct itimerval now;

	(void)self;
	if (getitimer(ITIMER_PROF, &now) != 0)
		return -1;
	*every_ns = ns_of(&now.it_interval);
	*left_ns = ns_of(&now.it_value);
	return 0;
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
	.set = real_set,
	.get = real_get,
	.pause = real_pause,
	.self = NULL,
};
