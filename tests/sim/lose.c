/* SPDX-License-Identifier: MIT */
/* Puts that find a ring full, and count it as the ring does. */
#include "config.h"

#include "tests/sim/lose.h"

#include "backends/common/tick_ring.h"

#ifdef PPI_CAN_WRAP

bool __real_ppi_tick_ring_put(struct ppi_tick_ring *ring,
                              const struct ppi_tick *tick,
                              bool is_first_thread, const void *context);
bool __wrap_ppi_tick_ring_put(struct ppi_tick_ring *ring,
                              const struct ppi_tick *tick,
                              bool is_first_thread, const void *context);

static unsigned left;

void sim_lose(unsigned count)
{
	left = count;
}

bool __wrap_ppi_tick_ring_put(struct ppi_tick_ring *ring,
                              const struct ppi_tick *tick,
                              bool is_first_thread, const void *context)
{
	if (!left || ring->stack_bytes)
		return __real_ppi_tick_ring_put(ring, tick, is_first_thread,
		                                context);
	left--;
	atomic_fetch_add_explicit(&ring->ticks.memory->dropped, 1,
	                          memory_order_relaxed);
	return false;
}

#else

void sim_lose(unsigned count)
{
	(void)count;
}

#endif
