/* SPDX-License-Identifier: MIT */
/* The virtual clock that all simulated kernels share. */
#include "tests/sim/clock.h"

#include <stddef.h>

/* Not 0: who takes 0 for "never" would be found out late on a real machine. */
#define BEGINNING UINT64_C(1000000000000)

static struct {
	uint64_t now_ns, every_ns, wake_ns;
	void (*every)(void);
} sim = { .now_ns = BEGINNING };

void sim_clock_reset(void (*every)(void), uint64_t every_ns)
{
	sim.now_ns = BEGINNING;
	sim.every = every;
	sim.every_ns = every_ns;
	sim.wake_ns = every ? BEGINNING + every_ns : UINT64_MAX;
}

uint64_t sim_clock_now(void)
{
	return sim.now_ns;
}

uint64_t sim_clock_until_wake(void)
{
	return sim.wake_ns - sim.now_ns;
}

void sim_clock_advance(uint64_t ns)
{
	uint64_t until = sim.now_ns + ns;

	while (sim.wake_ns <= until) {
		sim.now_ns = sim.wake_ns;
		sim.wake_ns += sim.every_ns;
		sim.every();
	}
	sim.now_ns = until;
}
