/* SPDX-License-Identifier: MIT */
/* CPU time that is charged to no process. */
#ifndef TOOLS_TAKEN_H
#define TOOLS_TAKEN_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What interrupts and a hypervisor took from all CPUs since the system began, in
 * the steps of its ticks. A clock event of perf counts it, the system's charge
 * does not. False where the system does not say it.
 */
bool ppi_taken_ns(uint64_t *ns);

#endif
