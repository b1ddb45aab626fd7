/* SPDX-License-Identifier: MIT */
/* What a verb reads: the profile that was named, and one of its events. */
#ifndef PPI_INPUT_H
#define PPI_INPUT_H

#include <portprof.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Read a profile, a folder of parts or a gmon.out; says why and returns NULL
 * when that fails. `program` is what wrote the gmon.out; NULL: a.out.
 * `memory_max`: of --max-memory, 0 the usual.
 */
portprof_profile *ppi_profile_open(const char *path, const char *program,
                                   uint64_t memory_max);

/* Whether a file begins as a table of regions, and what it is called there. */
#define PPI_REGIONS_TYPE "portprof regions"
bool ppi_input_is_regions(const char *path);

/*
 * The number of the event that is called `name`, as it was asked for or as the
 * backend wrote it; else of the first that differs in modifiers alone. NULL: the
 * first of all. SIZE_MAX, after saying which there are: none.
 */
size_t ppi_event_choose(const portprof_profile *profile, const char *path,
                        const char *name);

#endif
