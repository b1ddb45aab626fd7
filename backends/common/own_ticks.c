/* SPDX-License-Identifier: MIT */
/* When our helper works, and how many ticks can have hit it. */
#include "backends/common/own_ticks.h"

bool ppi_own_ticks_next(struct ppi_own_ticks *own, bool is_running,
                        bool must_begin)
{
	if (must_begin || (is_running && own->round == PPI_ROUND_OVER))
		own->round = PPI_ROUND_ASLEEP;
	else if (is_running && own->is_on && own->round < PPI_ROUND_LAST)
		own->round++;
	else
		own->round = PPI_ROUND_OVER;
	return own->round != PPI_ROUND_OVER;
}

/* Twice what its CPU time makes on average, and two: where a tick falls is
 * chance, and some systems know that time as of the last switch only. */
uint64_t ppi_own_ticks_left(const struct ppi_own_ticks *own,
                            const struct ppi_cpu_meter *cpu,
                            const struct ppi_tickweight *tick, unsigned lump)
{
	uint64_t used_ns = cpu->helper.seen_ns - cpu->helper.base_ns, most;

	if (!own->is_on || tick->num == 0)
		return 0;
	most = 2 * (used_ns * tick->den / tick->num + 1 + lump);
	return most > own->taken ? most - own->taken : 0;
}
