/* SPDX-License-Identifier: MIT */
/*
 * When a thread changed sets, for a thread that does it often: what CLOCK_MONOTONIC
 * said a moment ago is carried on by the CPU's counter, whose pace was measured by that
 * clock. A time that was carried is at most PPI_LABEL_SLACK_NS from that of the clock.
 *
 * Samples lose nothing by it: an interrupt and the way back take the thread longer than
 * that, so no change of its own lies so near to a sample's time. A reader that meets one
 * there says that it does not know.
 */
#ifndef PPI_LABEL_CLOCK_H
#define PPI_LABEL_CLOCK_H

#include "base/cycles.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	/* Carried so far at most; a clock that is set right loses or gains 500
	 * millionths (adjtimex(2)), of this 10 ns. */
	PPI_LABEL_CARRY_NS = 20000,
	/* In so long both were read; the clock's time was somewhere between. */
	PPI_LABEL_WINDOW_NS = 100,
	/* Half a window, what the clock was set right by, and what is cut off. */
	PPI_LABEL_SLACK_NS = 64
};

/* A thread's. Handlers of its signals come anywhere between. */
struct ppi_label_clock {
	volatile uint64_t carried_for; /* cycles since that; 0: it is read each
	                                * time */
	uint64_t cycles, ns;  /* both, at one moment */
	uint64_t rate;        /* ns of a cycle, << 32; 0: not known */
	uint64_t span;        /* PPI_LABEL_CARRY_NS, in cycles */
	uint64_t first_cycles, first_ns, first_window; /* measured from here */
	uint64_t read_cycles, read_position; /* at the last reading */
	volatile bool is_taken; /* is just being set */
	bool was_wrong;       /* what was carried since the time before was not
	                       * what the clock says */
};

/* The time of now, if it can be carried; 0. */
static inline uint64_t ppi_label_clock_carry(const struct ppi_label_clock *clock,
                                             uint64_t cycles)
{
	uint64_t since = cycles - clock->cycles;

	return since < clock->carried_for
		? clock->ns + (since * clock->rate >> 32) : 0;
}

/* Read the clock for the change at a position; `cycles` was just read. It is carried on
 * from there where changes are frequent: it takes twice the time. */
uint64_t ppi_label_clock_read(struct ppi_label_clock *clock, uint64_t cycles,
                              uint64_t position);

/* The same with what was read: the clock between the two counts. */
void ppi_label_clock_take(struct ppi_label_clock *clock, uint64_t cycles,
                          uint64_t ns, uint64_t cycles_after);

#endif
