/* SPDX-License-Identifier: MIT */
/* Limits of memory, and allocating less where they are low. */
#ifndef PPI_MEMORY_LIMIT_H
#define PPI_MEMORY_LIMIT_H

#include <stdbool.h>

/* Whether address space or data of this process is limited (setrlimit(2)). */
bool ppi_memory_is_limited(void);

/*
 * Before a thread of ours is made: where there is less than 1 GiB of address
 * space, no thread from now on has a heap of its own. With the GNU C library
 * each would take 64 MiB of it, and 128 for a moment.
 */
void ppi_memory_spare(void);

#endif
