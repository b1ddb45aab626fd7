/* SPDX-License-Identifier: MIT */
/* One chain: from frame to frame, up a copy of the stack. */
#ifndef PPI_WALK_H
#define PPI_WALK_H

#include "api/unwind/machine.h"

struct ppi_unwinder;

/*
 * Unwind one stack of process `pid` into `chain`, leaf first; other addresses
 * are return addresses, or one more than an address that nobody called: what a
 * signal interrupted, and what its handler returns to. Returns how many, at least
 * 1, at most `room`, which is not 0.
 */
size_t ppi_unwinder_walk(struct ppi_unwinder *unwinder, uint32_t pid,
                         const struct ppi_registers *registers,
                         const struct ppi_stack *stack, uint64_t *chain,
                         size_t room, enum portprof_chain_end *end);

/* As ppi_unwinder_walk, of a program of 32 bits on a machine of 64. */
size_t ppi_unwinder_walk_32_bit(struct ppi_unwinder *unwinder, uint32_t pid,
                                const struct ppi_registers *registers,
                                const struct ppi_stack *stack, uint64_t *chain,
                                size_t room);

#endif
