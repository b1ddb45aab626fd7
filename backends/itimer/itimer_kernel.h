/* SPDX-License-Identifier: MIT */
/* The kernel seam of the itimer backend: every call it makes of the system. */
#ifndef PPI_ITIMER_KERNEL_H
#define PPI_ITIMER_KERNEL_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

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

	/* As in compat/thread_list.h, ENOSYS included; tid 0 is the caller
	 * (h). The process's clock (h). */
	int (*threads)(void *self, int64_t *tids, size_t room, size_t *count);
	int (*thread_cpu)(void *self, int64_t tid, uint64_t *ns);
	int (*process_cpu)(void *self, uint64_t *ns);

	/* sigaction(2) of SIGPROF (h), raise(SIGPROF) (h) */
	int (*action)(void *self, const struct sigaction *next,
	              struct sigaction *before);
	int (*raise_again)(void *self);

	/* setitimer(2) of ITIMER_PROF, all 0 disarms; getitimer(2): its period
	 * and what is left, both 0 when it does not run */
	int (*set)(void *self, uint64_t first_ns, uint64_t every_ns);
	int (*get)(void *self, uint64_t *every_ns, uint64_t *left_ns);

	/* Let other threads run for a moment. */
	void (*pause)(void *self);

	void *self; /* NULL for the real one; the simulator in tests */
};

extern const struct itimer_kernel ppi_itimer_kernel_real;

#endif
