/* SPDX-License-Identifier: MIT */
/* The kernel seam of charges: what a system has charged each thread for what it did,
 * where nobody shows the place. */
#ifndef WAITS_CHARGES_KERNEL_H
#define WAITS_CHARGES_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

/* Of one thread, since it began. */
struct waits_charge {
	int64_t tid;
	uint64_t running_ns;
	/* Where every state is charged (has_states): */
	uint64_t ready_ns, lock_ns, fault_ns, stopped_ns, other_ns;
	/* Elsewhere: what it does now. */
	bool is_ready;
	char channel[24]; /* what it sleeps on, as ps(1) names it; "" nothing */
};

struct waits_charges_kernel {
	uint64_t (*now_ns)(void *self); /* CLOCK_MONOTONIC */
	/* All threads of a process: 0, or a negative errno. Stop when `take`
	 * returns false. */
	int (*list)(void *self, int64_t pid,
	            bool (*take)(void *context,
	                         const struct waits_charge *charge),
	            void *context);
	bool has_states; /* every state is charged, not only running */
	void *self;
};

/* NULL where the system has nothing of the kind, or shows places, too. */
extern const struct waits_charges_kernel *const ppi_waits_charges_kernel_real;

#endif
