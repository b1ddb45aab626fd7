/* SPDX-License-Identifier: MIT */
/*
 * The accounts of a simulated system: CPU time, faults and switches of threads,
 * and of children that were waited for. Systems differ in the clocks they have
 * and in how they split CPU time into user and kernel time.
 */
#ifndef RUSAGE_SIM_H
#define RUSAGE_SIM_H

#include "backends/rusage/rusage_kernel.h"
#include "tests/sim/faults.h"
#include "tests/sim/program.h"

enum rusage_sim_system {
	RUSAGE_SIM_LINUX,
	RUSAGE_SIM_FREEBSD,
	RUSAGE_SIM_NETBSD,
	RUSAGE_SIM_OPENBSD,
	RUSAGE_SIM_ILLUMOS
};

extern const struct rusage_kernel *rusage_sim_kernel; /* of that system */
extern struct sim_faults rusage_sim_faults;

/* A system with a new program, nothing accounted; then works as sim_program. */
void rusage_sim_reset(enum rusage_sim_system system, void (*every)(void));
void rusage_sim_spend(const struct fx_work *works, size_t count,
                      uint64_t *used_ns);
void rusage_sim_idle(uint64_t ns);

/* A thread's faults and switches, its CPU time apart. */
void rusage_sim_add(unsigned thread, const struct rusage_usage *more);

/* A child: it has used so much before its exec, so much in all; and it is waited
 * for. Its /proc is Linux's. */
void rusage_sim_child(int64_t pid, const struct rusage_usage *early);
void rusage_sim_wait(const struct rusage_usage *all);

#endif
