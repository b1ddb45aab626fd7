/* SPDX-License-Identifier: MIT */
/* A CPU whose counters programs may read, in place of the real one's. */
#include "tests/unit/user_cpu.h"

#include "backends/perf/counts/perf_user_cpu.h"
#include "tests/sim/perf_sim.h"

#include <pthread.h>

struct user_cpu cpu;

static void pass(enum step step)
{
	if (cpu.happens && cpu.at == step)
		cpu.happens();
}

uint64_t perf_user_pmc(uint32_t counter)
{
	cpu.asked = counter;
	__atomic_add_fetch(&cpu.pmc_reads, 1, __ATOMIC_RELAXED);
	pass(STEP_COUNTER);
	return cpu.is_simulated ? perf_sim_pmc(counter)
	                        : __atomic_load_n(&cpu.pmc, __ATOMIC_RELAXED);
}

uint64_t perf_user_clock(void)
{
	cpu.clock_reads++;
	pass(STEP_CLOCK);
	return cpu.is_simulated ? perf_sim_now() : cpu.clock;
}

uintptr_t perf_user_thread(void)
{
	return (uintptr_t)pthread_self();
}

void perf_user_barrier(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	pass(cpu.barriers++ % 2 == 0 ? STEP_LOCKED : STEP_CHECK);
}
