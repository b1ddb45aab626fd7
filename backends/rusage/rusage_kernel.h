/* SPDX-License-Identifier: MIT */
/* The kernel seam of the rusage backend: every call it makes of the system. */
#ifndef PPI_RUSAGE_KERNEL_H
#define PPI_RUSAGE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock_ns.h"

enum rusage_whose {
	RUSAGE_OF_PROCESS,
	RUSAGE_OF_THREAD,  /* the caller */
	RUSAGE_OF_CHILDREN /* that were waited for, with those they waited for */
};

/* What the system accounts to them, since they began. */
struct rusage_usage {
	uint64_t user_ns, system_ns;
	uint64_t minor_faults, major_faults;
	uint64_t voluntary, involuntary; /* context switches */
};

/* Calls that return int return 0, or -1 with errno. All are async-signal-safe
 * but for read_file. */
struct rusage_kernel {
	/* Which call reports CPU time here, and what it is worth. */
	const struct ppi_cpu_rules *rules;
	/* RUSAGE_OF_THREAD can be read. */
	bool has_threads;
	/* user_ns and system_ns are measured, not estimated from ticks. */
	bool is_split_exact;

	uint64_t (*now_ns)(void *self); /* CLOCK_MONOTONIC */
	int64_t (*process_id)(void *self);
	int64_t (*thread_id)(void *self); /* the caller's */
	int (*usage)(void *self, enum rusage_whose whose,
	             struct rusage_usage *out);
	/* As ppi_cpu_read of base/clock_ns.h. */
	int (*cpu)(void *self, enum ppi_cpu_source source, int64_t whose,
	           uint64_t *ns);
	/* kill(2) without a signal: ESRCH once a child was waited for. */
	int (*exists)(void *self, int64_t pid);
	/* The beginning of a file: its bytes, less than `room`, with a 0
	 * behind them. */
	int (*read_file)(void *self, const char *path, char *text,
	                 size_t room);
	void *self; /* NULL for the real one; the simulator in tests */
};

extern const struct rusage_kernel ppi_rusage_kernel_real;

#endif
