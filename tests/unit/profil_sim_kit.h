/* SPDX-License-Identifier: MIT */
/* What tests of the simulated profil kernels share: one, and a buffer. */
#ifndef PROFIL_SIM_KIT_H
#define PROFIL_SIM_KIT_H

#include "tests/sim/profil_sim.h"

enum { OFFSET = 0x400000, BINS = 65536, SYSTEMS = 8 };

/* A few more than are asked for, to see them overrun. */
extern uint16_t bins[BINS + 8];
extern struct psim sim;

/* A new one, off, whose bins are empty. */
void simkit_begin(const struct psim_os *os);

/* One tick in user mode, written. */
void simkit_hit(unsigned thread, uint64_t pc);

int simkit_on(size_t bytes, unsigned scale);

/* The one bin that is not 0, -1 when none is. */
long simkit_the_bin(void);

#endif
