/* SPDX-License-Identifier: MIT */
/* Limits of the memory that reading a file may take: --max-memory. */
#ifndef PPI_MEMORY_H
#define PPI_MEMORY_H

#include "tools/options.h"

#include <stdint.h>

/* The row of --max-memory in a verb's table; its value is a uint64_t. */
#define PPI_MEMORY_OPTION(at) \
	{ .name = "max-memory", .value = "SIZE", \
	  .help = "limit the memory for a file (2G)", \
	  .take = ppi_take_memory, .place = (at) }
int ppi_take_memory(const struct ppi_given *given, void *bytes);

/*
 * Limit this process, before it reads anything: portprof's own readers count
 * what they take and stay below, but libelf and libdw unpack what a file says
 * they should. `bytes` is the value of the option, 0 where it is missing.
 */
void ppi_memory_limit(uint64_t bytes);

/* The limit that this process was started with, for the command: in the child. */
void ppi_memory_unlimit(void);

/* What to do when a file takes more, where that was the last failure. */
void ppi_memory_say_remedy(void);

#endif
