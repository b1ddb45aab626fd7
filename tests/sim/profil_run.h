/* SPDX-License-Identifier: MIT */
/*
 * A program on a simulated machine with profil(2): threads that spend known
 * CPU time in known functions, each on a CPU of its own, on a virtual clock.
 */
#ifndef PROFIL_RUN_H
#define PROFIL_RUN_H

#include "tests/sim/profil_sim.h"

enum { PRUN_HELPER = PSIM_THREADS - 1 };

/* A thread spends cpu_ns between start and end, of it kernel_ns in system
 * calls made from there. Works of one thread follow one another. */
struct prun_work {
	unsigned thread;
	uint64_t start, end;
	uint64_t cpu_ns, kernel_ns;
};

struct prun_crowd;

struct prun {
	struct psim *sim;
	struct prun_crowd *crowd; /* who runs now */
	uint64_t now_ns;
	uint64_t helper_cpu_ns;
	uint64_t helper_slept_ns; /* the same, when it slept last */
	uint32_t seed;
	/* Something to be done now and then, as the helper thread does. */
	void (*every)(void *context);
	void *context;
	uint64_t every_ns, every_at_ns;
};

void prun_init(struct prun *run, struct psim *sim, uint32_t seed);

/* All works; threads run at the same time until each has done its own. */
void prun_works(struct prun *run, const struct prun_work *works, size_t count);

/* The helper spends this at its work while those who run go on. Only from
 * `every`. */
void prun_helper_works(struct prun *run, const struct prun_work *work);

/* Time passes and nobody runs. */
void prun_idle(struct prun *run, uint64_t ns);

#endif
