/* SPDX-License-Identifier: MIT */
/*
 * What a measurement of a known program must be: an answer found without the
 * library, from the contract and the manual pages alone.
 *
 * Nothing here knows when a kernel looks: a sample may come at any moment, as
 * long as no thread uses more than the resolution between two. So the answers
 * are ranges, exact in their ends.
 */
#ifndef EXPECT_H
#define EXPECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EXPECT_FUNCTIONS = 4, EXPECT_THREADS = 64 };

/* A thread spent cpu_ns in a function without a break, after what stands
 * before it in the list for the same thread. */
struct expect_work {
	unsigned thread, function;
	uint64_t cpu_ns, in_kernel_ns;
};

/* How the measurement looks at the program. */
struct expect_terms {
	uint64_t period_ns;
	uint64_t spread_ns;   /* a period is longer or shorter by up to that */
	uint64_t tick_ns;     /* 0: timers are exact */
	unsigned clocks;      /* separate clocks a thread is seen by, one a CPU
	                       * at most */
	bool is_fair;         /* each thread is looked at by its own clock */
	bool sees_kernel;     /* samples come in kernel mode too */
	uint64_t slack_ns;    /* added at both ends of everything */
};

struct expect_range {
	uint64_t low, high;
};

struct expect {
	uint64_t total;                 /* of all works */
	struct expect_range sampled;    /* weight of all samples */
	struct expect_range unattributed;
	struct expect_range samples;    /* number of them */
	struct expect_range function[EXPECT_FUNCTIONS]; /* weights */
	struct expect_range thread[EXPECT_THREADS];
};

void expect_program(const struct expect_work *works, size_t count,
                    const struct expect_terms *terms, struct expect *out);

/* ---- histograms ---- */

struct expect_region {
	uint64_t offset;
	uint32_t scale;
	unsigned bin_bits;
	size_t bin_count;
};

/* The bin of profil(2)'s manual pages, halving and rounding first; and the one
 * that kernels compute. UINT64_MAX when pc is below the offset. */
uint64_t expect_bin_of_manual(uint64_t pc, uint64_t offset, uint32_t scale);
uint64_t expect_bin_of_kernel(uint64_t pc, uint64_t offset, uint32_t scale);

/* A sample to be counted: `amount` at `pc`. */
struct expect_hit {
	uint64_t pc, amount;
};

/*
 * Add hits to bins, which hold what they held before. Returns the sum of what
 * fell outside; *saturated counts the bins that reached their largest value
 * and did not hold it before.
 */
uint64_t expect_histogram(const struct expect_region *region,
                          const struct expect_hit *hits, size_t count,
                          uint64_t *bins, size_t *saturated);

#endif
