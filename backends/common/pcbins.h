/* SPDX-License-Identifier: MIT */
/* 16-bit bins that a kernel counts in, and the wide ones they are added to. */
#ifndef PPI_PCBINS_H
#define PPI_PCBINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/common/own_ticks.h"

enum { PPI_BINS_PARTS = 4096 };

/*
 * The kernel counts in one buffer; another rests, and may still get a late
 * write from a CPU that was about to when it was replaced. `seen` is what was
 * read from the resting buffer, so that a late write is found in it before it
 * is used again. Read in place there is one buffer, and `seen` is what was
 * read of that.
 */
struct ppi_pcbins {
	uint16_t *buffer[2];   /* [1] is NULL: read in place */
	uint16_t *seen;
	uint32_t *wide;
	size_t count;
	unsigned active;       /* which buffer the kernel has */
	/* Parts of the bins: what is not marked is all 0. */
	bool seen_in[PPI_BINS_PARTS], wide_in[PPI_BINS_PARTS];
	uint64_t waiting;      /* ticks in wide[] */
	size_t cursor;         /* wide[] is empty before it */

	/* Where kernel stays are added in microseconds: a larger step than
	 * `step_max` cannot be ticks. 0 = everything is ticks. */
	uint64_t step_max;
	uint64_t tick_ns;
	uint64_t rest_ns;      /* microseconds that made no whole tick */
	uint16_t largest_step; /* since it was last set to 0 */

	/* Marks bins that gain something; NULL while our helper works. */
	struct ppi_own_ticks *asleep;
};

/* Add to wide[] what was not seen yet of a buffer, and remember it as seen. */
void ppi_pcbins_read(struct ppi_pcbins *bins, unsigned which);

/* Make a resting buffer, read for the last time, ready to be used: all 0. */
void ppi_pcbins_clear(struct ppi_pcbins *bins, unsigned which);

/* Take `ticks` from bins that have more than `most`, the fullest first; returns
 * how many were taken. */
uint64_t ppi_pcbins_put_aside(struct ppi_pcbins *bins, uint64_t ticks,
                              uint64_t most);

/* Take up to `most` of them from bins that `own` has not marked; returns how
 * many were taken. */
uint64_t ppi_pcbins_put_aside_own(struct ppi_pcbins *bins,
                                  const struct ppi_own_ticks *own,
                                  uint64_t most);

/* The next bin that is not empty, and empty it; false when there is none. */
bool ppi_pcbins_take(struct ppi_pcbins *bins, size_t *bin,
                          uint32_t *ticks);

/* Look at it without taking it. */
bool ppi_pcbins_peek(struct ppi_pcbins *bins, size_t *bin,
                          uint32_t *ticks);

#endif
