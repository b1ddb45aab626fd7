/* SPDX-License-Identifier: MIT */
/* The registers of the thread that a signal interrupted, and its stack. */
#ifndef PPI_CONTEXT_STACK_H
#define PPI_CONTEXT_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* By their DWARF numbers, as many as the largest machine has. */
enum { PPI_CONTEXT_REGISTERS = 33 };

/* Whether this system and machine tell both; `why` is set where they do not. */
bool ppi_context_has_stack(const char **why);

/* What does not change while the process lives. Not in signal context. */
struct ppi_stack_bounds {
	uint64_t main_start, main_end; /* of the first thread's stack */
};
void ppi_stack_bounds_learn(struct ppi_stack_bounds *bounds);

/*
 * Registers of the third argument of a handler installed with SA_SIGINFO, by
 * their DWARF numbers: a bit for each that is known. Async-signal-safe.
 */
uint64_t ppi_context_registers(const void *context, uint64_t *registers);

/*
 * The calling thread's stack from its interrupted stack pointer on, at most
 * `most` bytes of it: where it starts, and how many bytes are there for certain.
 * *is_all: it ends there. None, where the thread is on a stack that is not
 * known. `is_first`: it is the process's first thread. Async-signal-safe.
 */
size_t ppi_context_stack(const struct ppi_stack_bounds *bounds,
                         const void *context, bool is_first, size_t most,
                         uint64_t *start, bool *is_all);

/* Copy words of a stack, whoever watches over memory. Async-signal-safe. */
void ppi_stack_copy(void *to, uint64_t from, size_t bytes);

#endif
