/* SPDX-License-Identifier: MIT */
/* Weights of ticks that never add up to more than the CPU time. */
#include "backends/common/tickweight.h"

void ppi_tickweight_start(struct ppi_tickweight *weight, uint64_t cpu_ns)
{
	weight->start_cpu_ns = cpu_ns;
	weight->start_attributed_ns = weight->attributed_ns;
}

uint64_t ppi_tickweight_foreign(const struct ppi_tickweight *weight,
                                uint64_t ticks, uint64_t cpu_ns,
                                uint64_t spare)
{
	uint64_t used = cpu_ns - weight->start_cpu_ns;
	uint64_t given = weight->attributed_ns - weight->start_attributed_ns;
	uint64_t room = 0;

	if (weight->num == 0) /* how long a tick is is not known */
		return 0;
	if (used > given)
		room = (used - given) * weight->den / weight->num;
	return ticks > room + spare ? ticks - room : 0;
}

void ppi_tickweight_begin(struct ppi_tickweight *weight, uint64_t ticks,
                          uint64_t cpu_ns)
{
	uint64_t sum;

	weight->ticks = ticks;
	weight->given = 0;
	weight->batch_ns = 0;
	if (ticks == 0)
		return;
	if (weight->num)
		weight->ideal_ns += ticks * weight->num / weight->den;
	else
		weight->ideal_ns = cpu_ns;
	sum = weight->ideal_ns < cpu_ns ? weight->ideal_ns : cpu_ns;
	if (sum < weight->attributed_ns)
		sum = weight->attributed_ns;
	weight->batch_ns = sum - weight->attributed_ns;
	weight->attributed_ns = sum;
}

/* batch_ns * ticks / all ticks, rounded down, without overflow. */
static uint64_t share(const struct ppi_tickweight *weight, uint64_t ticks)
{
	uint64_t whole = weight->batch_ns / weight->ticks;
	uint64_t rest = weight->batch_ns % weight->ticks;

	return whole * ticks + rest * ticks / weight->ticks;
}

uint64_t ppi_tickweight_of(const struct ppi_tickweight *weight, uint64_t ticks)
{
	if (weight->ticks == 0)
		return 0;
	return share(weight, weight->given + ticks) -
	       share(weight, weight->given);
}

void ppi_tickweight_give(struct ppi_tickweight *weight, uint64_t ticks)
{
	weight->given += ticks;
}

void ppi_tickweight_forget(struct ppi_tickweight *weight, uint64_t cpu_ns)
{
	weight->ideal_ns = cpu_ns;
	weight->attributed_ns = cpu_ns;
}
