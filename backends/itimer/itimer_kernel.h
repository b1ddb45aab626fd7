/* SPDX-License-Identifier: MIT */
/* The kernel seam of the itimer backend: every call it makes of the system. */
#ifndef PPI_ITIMER_KERNEL_H
#define PPI_ITIMER_KERNEL_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What ITIMER_PROF is set to; all 0 when it does not run. */
struct itimer_value {
	uint64_t left_ns, every_ns;
};

/*
 * Calls that return int return 0, or -1 with errno. Marked (h): called from
 * the signal handler, too, so it must be async-signal-safe.
 */
struct itimer_kernel {
	/* CLOCK_MONOTONIC (h) */
	uint64_t (*now_ns)(void *self);
	/* How often the kernel looks at the timer; 0 = unknown */
	uint64_t (*tick_ns)(void *self);
	unsigned (*cpu_count)(void *self);
	int64_t (*process_id)(void *self);
	int64_t (*thread_id)(void *self); /* the caller's (h) */

	/* As in base/thread.h and base/clock_ns.h, ENOSYS included;
	 * tid 0 is the caller (h). The process's CPU time (h). */
	int (*threads)(void *self, int64_t *tids, size_t room, size_t *count);
	int (*thread_cpu)(void *self, int64_t tid, uint64_t *ns);
	int (*process_cpu)(void *self, uint64_t *ns);

	/* sigaction(2) of SIGPROF (h), raise(SIGPROF) (h) */
	int (*action)(void *self, const struct sigaction *next,
	              struct sigaction *before);
	int (*raise_again)(void *self);
	/* Whether the system can have sent it for the timer (h) */
	bool (*is_tick)(void *self, const siginfo_t *info);
	/* As in base/signals.h: a signal that is none of ours goes to
	 * the program. False: by its action of before (h) */
	bool (*forward)(void *self, siginfo_t *info, void *context);

	/* setitimer(2) of ITIMER_PROF, which returns what it was set to until
	 * that moment; getitimer(2) */
	int (*set)(void *self, const struct itimer_value *next,
	           struct itimer_value *before);
	int (*get)(void *self, struct itimer_value *now);
	/* setitimer(2) of a time that is none, which changes nothing: EINVAL
	 * where the call is let through */
	int (*try_set)(void *self);

	/* Let other threads run for a moment. */
	void (*pause)(void *self);

	void *self; /* NULL for the real one; the simulator in tests */
};

extern const struct itimer_kernel ppi_itimer_kernel_real;

#endif
