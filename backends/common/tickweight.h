/* SPDX-License-Identifier: MIT */
/*
 * What ticks weigh: each the time between two of them, and all together never
 * more than the CPU time that the process used. What a batch could not have
 * because of that, a later one carries.
 */
#ifndef PPI_TICKWEIGHT_H
#define PPI_TICKWEIGHT_H

#include <stdint.h>

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

#endif
