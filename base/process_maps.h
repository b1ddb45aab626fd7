/* SPDX-License-Identifier: MIT */
/* What a process has mapped, and its memory. */
#ifndef PPI_PROCESS_MAPS_H
#define PPI_PROCESS_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A line of /proc/PID/maps. */
struct ppi_mapping {
	uint64_t start, end, offset, inode;
	char rights[8];
	char device[32];
	char name[4096];
};

/* NULL where there is no such list, or no such process. To be read with
 * ppi_maps_next, false at its end, and closed with fclose. */
FILE *ppi_maps_open(uint32_t pid);
bool ppi_maps_next(FILE *maps, struct ppi_mapping *line);

/* Call `take` for each mapping of a process that may be executed; `path` is as
 * the system shows it, "" for memory of no file. */
void ppi_process_each_code(uint32_t pid,
                           void (*take)(void *context, uint64_t start,
                                        uint64_t limit, uint64_t offset,
                                        const char *path),
                           void *context);

/* Bytes of a process's memory; how many could be read. */
size_t ppi_process_read(uint32_t pid, uint64_t address, void *bytes,
                        size_t count);

/* A descriptor for several of them (ppi_foreign_read), or -1. */
int ppi_process_memory(uint32_t pid);

#endif
