/* SPDX-License-Identifier: MIT */
/* How much memory reading files of others may take. */
#ifndef PPI_MEMORY_H
#define PPI_MEMORY_H

#include "tools/options.h"

#include <stdint.h>

/* The words of --max-memory in a verb's help. */
#define PPI_MEMORY_HELP \
	"      --max-memory SIZE    limit the memory for a file (2G)\n"

/* The value of --max-memory: 0, or the exit status and words. */
int ppi_memory_option(const struct ppi_line *line, const char *value,
                      uint64_t *bytes);

/*
 * Limit this process, before it reads anything: portprof's own readers count
 * what they take and stay below, but libelf and libdw unpack what a file says
 * they should. `bytes` is the value of the option, 0 where it is missing.
 */
void ppi_memory_limit(uint64_t bytes);

/* What to do when a file takes more, where that was the last failure. */
void ppi_memory_say_remedy(void);

#endif
