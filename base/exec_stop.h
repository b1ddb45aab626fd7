/* SPDX-License-Identifier: MIT */
/* Stopping a child between its execve(2) and its first instruction: its program is
 * in memory then, and nothing of it has run. */
#ifndef PPI_EXEC_STOP_H
#define PPI_EXEC_STOP_H

#include <stdbool.h>
#include <sys/types.h>

/* Trace a child for the sake of its next execve; false where that is forbidden,
 * and on systems without Linux's ptrace(2). */
bool ppi_exec_stop_begin(pid_t child);

/* Wait until it stands there; false: it ended before. It is not reaped. */
bool ppi_exec_stop_await(pid_t child);

/* Let it go on, untraced. */
void ppi_exec_stop_end(pid_t child);

#endif
