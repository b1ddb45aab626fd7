/* SPDX-License-Identifier: MIT */
/* The system calls of the timer backend, and nothing else. */
#include "config.h"

#include "backends/timer/timer_kernel.h"
#include "base/clock_ns.h"
#include "base/signals.h"
#include "base/thread.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

/* The C library may keep the field under its internal name only. */
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

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

static void real_signal_range(void *self, int *first, int *last)
{
	(void)self;
	*first = SIGRTMIN;
	*last = SIGRTMAX;
}

static int real_action(void *self, int signo, const struct sigaction *next,
                       struct sigaction *before)
{
	(void)self;
	return sigaction(signo, next, before);
}

static int real_raise_again(void *self, int signo)
{
	(void)self;
	return raise(signo);
}

static bool real_forward(void *self, int signo, siginfo_t *info,
                         void *context)
{
	(void)self;
	return ppi_signal_share.forward &&
	       ppi_signal_share.forward(signo, info, context);
}

static int real_create(void *self, int64_t tid, int signo, void *tag,
                       uint64_t *timer)
{
	clockid_t clock = ppi_thread_clock(tid);
	struct sigevent event;
	timer_t created;

	(void)self;
	memset(&event, 0, sizeof(event));
	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = signo;
	event.sigev_value.sival_ptr = tag;
	event.sigev_notify_thread_id = (pid_t)tid;
	if (timer_create(clock, &event, &created) != 0)
		return -1;
	*timer = (uint64_t)(uintptr_t)created;
	return 0;
}

static int real_set(void *self, uint64_t timer, uint64_t first_ns,
                    uint64_t every_ns)
{
	struct itimerspec next = { .it_interval = ppi_time_of(every_ns),
		                   .it_value = ppi_time_of(first_ns) };

	(void)self;
	return timer_settime((timer_t)(uintptr_t)timer, 0, &next, NULL);
}

static int real_left(void *self, uint64_t timer, uint64_t *ns)
{
	struct itimerspec now;

	(void)self;
	if (timer_gettime((timer_t)(uintptr_t)timer, &now) != 0)
		return -1;
	*ns = ppi_ns_of(&now.it_value);
	return 0;
}

static int real_destroy(void *self, uint64_t timer)
{
	(void)self;
	return timer_delete((timer_t)(uintptr_t)timer);
}

static void real_pause(void *self)
{
	struct timespec moment = { 0, 50000 };

	(void)self;
	nanosleep(&moment, NULL);
}

const struct timer_kernel ppi_timer_kernel_real = {
	.now_ns = real_now_ns,
	.tick_ns = real_tick_ns,
	.cpu_count = real_cpu_count,
	.process_id = real_process_id,
	.threads = real_threads,
	.thread_cpu = real_thread_cpu,
	.process_cpu = real_process_cpu,
	.signal_range = real_signal_range,
	.action = real_action,
	.raise_again = real_raise_again,
	.forward = real_forward,
	.create = real_create,
	.set = real_set,
	.left = real_left,
	.destroy = real_destroy,
	.pause = real_pause,
	.self = NULL,
};
