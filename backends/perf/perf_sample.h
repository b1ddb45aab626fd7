/* SPDX-License-Identifier: MIT */
/* One sample of the kernel's: whose it is, what it weighs, where it fell. */
#ifndef PPI_PERF_SAMPLE_H
#define PPI_PERF_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

/* How finely places are told apart: instructions of one line of the cache, of
 * one small function, of one page. */
enum { PERF_BEAT_SCALES = 3, PERF_BEAT_LAGS = 16, PERF_BEAT_FAR = 128 };

/* Of one thread's clock. All 0 to begin with. */
struct perf_beat {
	int64_t tid;       /* whose; 0: nobody's yet */
	unsigned strangers; /* samples of others since its last */
	unsigned count;    /* samples so far */
	uint64_t recent[PERF_BEAT_FAR];
	/* How often a sample was at the place of the one so many before it, and
	 * of one before that by a multiple of as many. */
	struct {
		uint16_t near[PERF_BEAT_LAGS + 1], far[PERF_BEAT_LAGS + 1];
	} same[PERF_BEAT_SCALES];
};

/*
 * Note a sample. Not 0: every so many samples fell at the same place again, and
 * those between at others, so long that it is no chance: the program goes
 * through the same places in so many periods of the clock, and at none of them
 * is it met but at these. (Where each sample falls at one place it may be the
 * only one, and nothing is seen.)
 */
unsigned ppi_perf_beat_see(struct perf_beat *beat, int64_t tid,
                           uint64_t address);

#endif
