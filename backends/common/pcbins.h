/* SPDX-License-Identifier: MIT */
/* A kernel that counts in 16-bit bins: the wide ones they are added to, what
 * ticks weigh, and those of our helper. */
#ifndef PPI_PCBINS_H
#define PPI_PCBINS_H

#include "backends/backend.h"
#include "backends/common/cpu_time.h"
#include "backends/common/pcregion.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- what ticks weigh ---- */

/*
 * Each the time between two of them, and all together never
 * more than the CPU time that the process used. What a batch could not have
 * because of that, a later one carries.
 */

struct ppi_tickweight {
	uint64_t num, den;       /* a tick is num/den nanoseconds; num 0: all
	                          * CPU time is shared by the ticks there are */
	uint64_t ideal_ns;       /* of all ticks so far */
	uint64_t attributed_ns;  /* of all batches so far */
	uint64_t ticks, given;   /* of this batch; in records already */
	uint64_t batch_ns;       /* what this batch weighs */
	uint64_t start_cpu_ns, start_attributed_ns; /* at the last start */
};

/* Sampling starts, or starts again; cpu_ns is the CPU time used so far. */
void ppi_tickweight_start(struct ppi_tickweight *weight, uint64_t cpu_ns);

/*
 * How many of `ticks` that came in stand for no CPU time since the start, up to
 * cpu_ns: a kernel that bills a stay when it ends bills what was before the
 * start, too. No more than `spare` ticks too many may be chance: 0.
 */
uint64_t ppi_tickweight_foreign(const struct ppi_tickweight *weight,
                                uint64_t ticks, uint64_t cpu_ns,
                                uint64_t spare);

/* A batch of ticks begins; cpu_ns is the CPU time used up to the last one. */
void ppi_tickweight_begin(struct ppi_tickweight *weight, uint64_t ticks,
                          uint64_t cpu_ns);

/* What the next so many ticks of the batch weigh; the parts sum to it, however
 * it is divided. _give counts them as given. */
uint64_t ppi_tickweight_of(const struct ppi_tickweight *weight,
                           uint64_t ticks);
void ppi_tickweight_give(struct ppi_tickweight *weight, uint64_t ticks);

/* Nothing is owed from before; cpu_ns is the CPU time used so far. */
void ppi_tickweight_forget(struct ppi_tickweight *weight, uint64_t cpu_ns);

/* ---- ticks of our helper thread ---- */

/*
 * Ticks of our helper thread in the bins of a kernel that samples processes.
 * Their owner does not distinguish them from the program's, but the time when they
 * came: the helper is hit while it works. So a batch of its working time is
 * read apart, and what came in places where nothing was hit while it slept is
 * its own, as far as its CPU time allows. What hit the code that reads bins, which
 * takes most of its time, is its own whenever it came.
 */

enum { PPI_OWN_PLACES = 65536 };

/*
 * A round of the helper's: what came while it slept is harvested and given to
 * the sinks, then what came meanwhile. That takes time again, each time less.
 */
enum ppi_round {
	PPI_ROUND_OVER,
	PPI_ROUND_ASLEEP,
	PPI_ROUND_AT_WORK,
	PPI_ROUND_LAST = PPI_ROUND_AT_WORK + 3
};

struct ppi_own_ticks {
	enum ppi_round round;
	bool is_on;     /* our code is among what is sampled */
	uint64_t taken; /* put aside since the last start */
	uint64_t code_first, code_end; /* places of the code that reads bins */
	/* places that were hit while the helper slept; two may share a bit */
	uint8_t program[PPI_OWN_PLACES / 8];
};

static inline bool ppi_own_ticks_is_code(const struct ppi_own_ticks *own,
                                         uint64_t place)
{
	return place >= own->code_first && place < own->code_end;
}

static inline void ppi_own_ticks_mark(struct ppi_own_ticks *own, uint64_t place)
{
	if (ppi_own_ticks_is_code(own, place))
		return;
	own->program[place % PPI_OWN_PLACES / 8] |= (uint8_t)(1 << place % 8);
}

static inline bool ppi_own_ticks_is_programs(const struct ppi_own_ticks *own,
                                             uint64_t place)
{
	return own->program[place % PPI_OWN_PLACES / 8] >> place % 8 & 1;
}

/* The next harvest of this round or, with `must_begin`, of another; false: the
 * round is over, though ticks go on arriving. */
bool ppi_own_ticks_next(struct ppi_own_ticks *own, bool is_running,
                        bool must_begin);

/* How many ticks may yet be put aside; `lump`: the kernel adds so many at
 * once. */
uint64_t ppi_own_ticks_left(const struct ppi_own_ticks *own,
                            const struct ppi_cpu_meter *cpu,
                            const struct ppi_tickweight *tick, unsigned lump);

/* ---- bins ---- */

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

/* Take all of them from bins of the code that reads bins and, while the helper
 * works, up to `most` from bins that `own` has not marked; returns how many of the
 * latter were taken. */
uint64_t ppi_pcbins_put_aside_own(struct ppi_pcbins *bins,
                                  const struct ppi_own_ticks *own,
                                  uint64_t most);

/* The code that reads bins, as a text of its own. */
void ppi_pcbins_code(struct ppi_text *out);

/* The next bin that is not empty, and empty it; false when there is none. */
bool ppi_pcbins_take(struct ppi_pcbins *bins, size_t *bin,
                          uint32_t *ticks);

/* ---- bins as records ---- */

/* A record for each bin that is not empty, with its part of the batch that
 * `weight` is at; as many as there is room for, the others stay. */
void ppi_pcgive(struct ppi_pcbins *bins, const struct ppi_pcregion *region,
                struct ppi_tickweight *weight, struct ppi_room *room);

#endif
