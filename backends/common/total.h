/* SPDX-License-Identifier: MIT */
/*
 * A total that starts and stops, for backends that count: what a clock or an
 * account of the system said while it was on. Start and stop write, one thread at a
 * time; any thread reads meanwhile, also in a signal handler. Zeroed it is
 * stopped, at 0.
 */
#ifndef PPI_TOTAL_H
#define PPI_TOTAL_H

#include "base/arithmetic.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct ppi_total {
	_Atomic uint64_t offset;  /* while it runs: reading less offset */
	_Atomic uint64_t held;    /* while it is stopped */
	_Atomic uint64_t highest; /* of all that was reported */
};

static inline void ppi_total_start(struct ppi_total *total, uint64_t reading)
{
	atomic_store(&total->offset, reading - atomic_load(&total->held));
}

/* `reading`, of now, counts while it runs alone. */
static inline uint64_t ppi_total_read(struct ppi_total *total, bool is_running,
                                      uint64_t reading)
{
	uint64_t value;

	if (!is_running)
		return ppi_never_less(&total->highest,
		                      atomic_load(&total->held));
	value = reading - atomic_load(&total->offset);
	/* read before a stop and a start of another thread, or a clock that
	 * went back further than it was when counting began; a clock may go
	 * back a little (base/clock_ns.h), a total never does */
	return ppi_never_less(&total->highest,
	                      value > UINT64_MAX / 2 ? 0 : value);
}

static inline void ppi_total_stop(struct ppi_total *total, uint64_t reading)
{
	atomic_store(&total->held, ppi_total_read(total, true, reading));
}

#endif
