/* SPDX-License-Identifier: MIT */
/* Puts that find a ring full, and count it as the ring does. */
#include "config.h"

#include "tests/sim/lose.h"

#include "backends/common/tick_ring.h"

#ifdef PPI_CAN_WRAP

bool __real_ppi_pcring_put(struct ppi_pcring *ring,
                           const struct ppi_tick *tick);
bool __wrap_ppi_pcring_put(struct ppi_pcring *ring,
                           const struct ppi_tick *tick);

static unsigned left;

void sim_lose(unsigned count)
{
	left = count;
}

bool __wrap_ppi_pcring_put(struct ppi_pcring *ring,
                           const struct ppi_tick *tick)
{
	if (!left)
		return __real_ppi_pcring_put(ring, tick);
	left--;
	atomic_fetch_add_explicit(&ring->memory->dropped, 1,
	                          memory_order_relaxed);
	return false;
}

#else

void sim_lose(unsigned count)
{
	(void)count;
}

#endif
