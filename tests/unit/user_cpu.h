/* SPDX-License-Identifier: MIT */
/* A CPU whose counters programs may read: what it answers, and what happens
 * meanwhile. */
#ifndef USER_CPU_H
#define USER_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/perf_event.h>

/* Steps at which something may happen, in their order. */
enum step { STEP_LOCKED, STEP_CLOCK, STEP_COUNTER, STEP_CHECK, STEPS };

struct user_cpu {
	struct perf_event_mmap_page page;
	uint64_t pmc, clock;
	uint32_t asked;       /* the counter that was read last */
	unsigned pmc_reads, clock_reads, barriers;
	bool is_simulated;    /* counters of the simulated kernel */
	void (*happens)(void);
	enum step at;
};
extern struct user_cpu cpu;

#endif
