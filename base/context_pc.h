/* SPDX-License-Identifier: MIT */
/* The program counter in the context of a signal handler. */
#ifndef PPI_CONTEXT_PC_H
#define PPI_CONTEXT_PC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether it is known where this system and machine keep it. */
bool ppi_context_has_pc(void);

/* The third argument of a handler installed with SA_SIGINFO. 0 when it is not
 * known. Async-signal-safe. */
uint64_t ppi_context_pc(const void *context);

/* The other way round, for simulated kernels that call a handler. The context
 * is ppi_context_bytes() long and zeroed first. */
void ppi_context_set_pc(void *context, uint64_t pc);
size_t ppi_context_bytes(void);

#endif
