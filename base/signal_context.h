/* SPDX-License-Identifier: MIT */
/* What a signal handler sees of the thread that it interrupted: the program counter,
 * registers, the stack. */
#ifndef PPI_SIGNAL_CONTEXT_H
#define PPI_SIGNAL_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- the program counter ---- */

/* Whether it is known where this system and machine keep the program
 * counter. */
bool ppi_context_has_pc(void);

/* That of the third argument of a handler installed with SA_SIGINFO. 0 when it is not
 * known. Async-signal-safe. */
uint64_t ppi_context_pc(const void *context);

/* The other way round, for simulated kernels that call a handler. The context
 * is a ucontext_t, and zeroed first. */
void ppi_context_set_pc(void *context, uint64_t pc);

/* ---- the signal mask ---- */

/* The mask of the interrupted code when the handler returns, in its frame. A kernel's
 * frame may have room for its own signals alone: no more than NSIG - 1 bits. */
void *ppi_context_mask(void *context);

/* ---- registers and stacks ---- */

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

/* Part of a stack, from a stack pointer on: what is there for certain. */
struct ppi_stack_part {
	uint64_t start; /* 0 = none */
	size_t bytes;
	bool is_all; /* the stack ends there */
};

/*
 * The calling thread's stack from its interrupted stack pointer on; and where
 * that is the alternate one, its usual stack from where a signal interrupted it
 * there. Both have at most `most` bytes together, and none of a stack that is not
 * known. `is_first`: it is the process's first thread. Async-signal-safe.
 */
void ppi_context_stacks(const struct ppi_stack_bounds *bounds,
                        const void *context, bool is_first, size_t most,
                        struct ppi_stack_part *runs,
                        struct ppi_stack_part *interrupted);

/* Copy words of a stack, under memory checkers too. Async-signal-safe. */
void ppi_stack_copy(void *to, uint64_t from, size_t bytes);

#endif
