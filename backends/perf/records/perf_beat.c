/* SPDX-License-Identifier: MIT */
/* Rhythms of places, seen while samples come. */
#include "backends/perf/records/perf_beat.h"

#include <string.h>

/* A thread that is silent for so long leaves the place to another. And of
 * how many comparisons the verdict is made. */
enum { PATIENCE = 512, COMPARED = 128 };

static const unsigned shifts[PERF_BEAT_SCALES] = { 6, 9, 12 };

static void begin(struct perf_beat *beat, int64_t tid)
{
	memset(beat, 0, sizeof(*beat));
	beat->tid = tid;
}

static unsigned far_of(unsigned lag)
{
	return PERF_BEAT_FAR / lag * lag;
}

static uint64_t before(const struct perf_beat *beat, unsigned lag)
{
	return beat->recent[(beat->count - lag) % PERF_BEAT_FAR];
}

static void compare(struct perf_beat *beat, uint64_t address)
{
	for (unsigned scale = 0; scale < PERF_BEAT_SCALES; scale++)
		for (unsigned lag = 1; lag <= PERF_BEAT_LAGS; lag++) {
			uint64_t here = address >> shifts[scale];

			beat->same[scale].near[lag] +=
				before(beat, lag) >> shifts[scale] == here;
			beat->same[scale].far[lag] +=
				before(beat, far_of(lag)) >> shifts[scale] ==
				here;
		}
}

/* The least lag at which nearly all are alike, if those below are not. Samples
 * of the C library and of interrupts are between them. */
static unsigned rhythm_of(const uint16_t *near, const uint16_t *far)
{
	for (unsigned lag = 1; lag <= PERF_BEAT_LAGS; lag++) {
		if (near[lag] >= COMPARED * 85 / 100)
			return lag > 1 && far[lag] >= COMPARED * 85 / 100
				? lag : 0;
		if (near[lag] > COMPARED * 65 / 100)
			return 0;
	}
	return 0;
}

unsigned ppi_perf_beat_see(struct perf_beat *beat, int64_t tid,
                           uint64_t address)
{
	unsigned found = 0;

	if (beat->tid == 0 ||
	    (tid != beat->tid && ++beat->strangers > PATIENCE))
		begin(beat, tid);
	if (tid != beat->tid)
		return 0;
	beat->strangers = 0;
	if (beat->count >= PERF_BEAT_FAR)
		compare(beat, address);
	beat->recent[beat->count++ % PERF_BEAT_FAR] = address;
	if (beat->count < PERF_BEAT_FAR + COMPARED)
		return 0;
	for (unsigned i = 0; i < PERF_BEAT_SCALES && !found; i++)
		found = rhythm_of(beat->same[i].near, beat->same[i].far);
	begin(beat, tid);
	return found;
}
