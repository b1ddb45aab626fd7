/* SPDX-License-Identifier: MIT */
/* The clock of a simulated machine: it moves only when told to. */
#ifndef SIM_CLOCK_H
#define SIM_CLOCK_H

#include <stdint.h>

/* Begin again. Every `every_ns` of simulated time `every` is called, as a
 * helper thread would wake; NULL for nothing. */
void sim_clock_reset(void (*every)(void), uint64_t every_ns);

uint64_t sim_clock_now(void);

/* Time until the next call of `every`. */
uint64_t sim_clock_until_wake(void);

/* Time passes; `every` is called when it is due. */
void sim_clock_advance(uint64_t ns);

#endif
