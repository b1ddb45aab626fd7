/* SPDX-License-Identifier: MIT */
/* One simulated profil kernel, and ticks on it. */
#include "tests/unit/profil_sim_kit.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <string.h>

uint16_t bins[BINS + 8];
struct psim sim;

void simkit_begin(const struct psim_os *os)
{
	psim_free(&sim);
	psim_init(&sim, os);
	sim.has_gmon_note = true;
	memset(bins, 0, sizeof(bins));
}

void simkit_hit(unsigned thread, uint64_t pc)
{
	if (sim.os->pending == PSIM_SIGNAL) {
		sim.process_cpu_ns = sim.timer_at_ns;
		psim_stat_tick(&sim, thread, PSIM_USER, pc, 1);
	} else if (sim.os->stat_clock_ticks) {
		psim_stat_tick(&sim, thread, PSIM_USER, pc, 1);
	} else {
		psim_tick(&sim, thread, PSIM_USER, pc, 1);
	}
	psim_return_to_user(&sim, thread, pc);
}

int simkit_on(size_t bytes, unsigned scale)
{
	return psim_profil(&sim, bins, bytes, OFFSET, scale);
}

long simkit_the_bin(void)
{
	long found = -1;

	for (long i = 0; i < BINS + 8; i++) {
		if (!bins[i])
			continue;
		assert_int_equal(found, -1);
		found = i;
	}
	return found;
}
