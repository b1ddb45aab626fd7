/* SPDX-License-Identifier: MIT */
/*
 * Ticks of our helper thread in the bins of a kernel that samples processes.
 * They cannot be told from the program's by whose they are, but by when they
 * came: the helper is hit while it works. So a batch of its working time is
 * read apart, and what came in places where nothing was hit while it slept is
 * its own, as far as its CPU time allows.
 */
#ifndef PPI_OWN_TICKS_H
#define PPI_OWN_TICKS_H

#include <stdbool.h>
#include <stdint.h>

#include "backends/common/cpu_meter.h"
#include "backends/common/tickweight.h"

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
	/* places that were hit while the helper slept; two may share a bit */
	uint8_t program[PPI_OWN_PLACES / 8];
};

static inline void ppi_own_ticks_mark(struct ppi_own_ticks *own, uint64_t place)
{
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

#endif
