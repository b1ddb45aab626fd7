/* SPDX-License-Identifier: MIT */
/* The table of the open regions, as a file. */
#ifndef PPI_REGION_TABLE_H
#define PPI_REGION_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "api/core/region.h"

/* Whose table it is. */
struct ppi_region_origin {
	char host[256];
	int64_t pid;
	int64_t rank;       /* among the processes of a job; -1: in none */
	uint64_t opened_ns; /* CLOCK_REALTIME */
};

/* This process's; `opened_ns` is now. */
void ppi_region_origin(struct ppi_region_origin *origin);

/* Write the table of `all`, which are the open regions: JSON, or text for
 * people. False when the stream did not take it, or out of memory. */
bool ppi_region_table_write(struct portprof_regions *all,
                            const struct ppi_region_origin *origin,
                            bool is_text, FILE *out);

#endif
