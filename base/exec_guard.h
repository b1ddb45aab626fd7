/* SPDX-License-Identifier: MIT */
/* Whether our timers are stopped before each exec of this process. */
#ifndef PPI_EXEC_GUARD_H
#define PPI_EXEC_GUARD_H

#include <stdbool.h>

/* Async-signal-safe; a forked child inherits the answer. */
void ppi_exec_guard_promise(void);
bool ppi_exec_guard_is_promised(void);

#endif
