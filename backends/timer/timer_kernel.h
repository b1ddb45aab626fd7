/* SPDX-License-Identifier: MIT */
/* The kernel seam of the timer backend: every call it makes of the system. */
#ifndef PPI_TIMER_KERNEL_H
#define PPI_TIMER_KERNEL_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Calls that return int return 0, or -1 with errno. Marked (h): called from
 * the signal handler, too, so it must be async-signal-safe.
 */
struct timer_kernel {
	/* CLOCK_MONOTONIC (h) */
	uint64_t (*now_ns)(void *self);
	/* How often the kernel looks at CPU timers: the resolution of
	 * CLOCK_MONOTONIC_COARSE, see clock_getres(2). 0 = unknown */
	uint64_t (*tick_ns)(void *self);
	unsigned (*cpu_count)(void *self);
	int64_t (*process_id)(void *self);

	/* As in base/thread.h and base/clock_ns.h; tid 0 is the
	 * caller (h) */
	int (*threads)(void *self, int64_t *tids, size_t room, size_t *count);
	int (*thread_cpu)(void *self, int64_t tid, uint64_t *ns);
	int (*process_cpu)(void *self, uint64_t *ns);

	/* SIGRTMIN and SIGRTMAX; sigaction(2) (h); raise(3) (h) */
	void (*signal_range)(void *self, int *first, int *last);
	int (*action)(void *self, int signo, const struct sigaction *next,
	              struct sigaction *before);
	int (*raise_again)(void *self, int signo);
	/* As in base/signals.h: a signal that is none of ours goes to
	 * the program. False: by its default action (h) */
	bool (*forward)(void *self, int signo, siginfo_t *info, void *context);

	/*
	 * timer_create(2) on the CPU clock of a thread, told to that thread
	 * by `signo` with `tag` as sigval: EAGAIN when RLIMIT_SIGPENDING is
	 * reached, EINVAL when there is no such thread. timer_settime(2):
	 * all 0 disarms; ESRCH when the thread is gone. timer_gettime(2):
	 * 0 left means disarmed, or that the thread is gone.
	 */
	int (*create)(void *self, int64_t tid, int signo, void *tag,
	              uint64_t *timer);
	int (*set)(void *self, uint64_t timer, uint64_t first_ns,
	           uint64_t every_ns);
	int (*left)(void *self, uint64_t timer, uint64_t *ns);
	int (*destroy)(void *self, uint64_t timer);

	/* Let other threads run for a moment. */
	void (*pause)(void *self);

	void *self; /* NULL for the real one; the simulator in tests */
};

extern const struct timer_kernel ppi_timer_kernel_real;

#endif
