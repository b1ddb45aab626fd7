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

/*
 * The name by which an input can be read as often as needed: "-" is standard
 * input, and a pipe that this process was started with is copied to a file
 * without a name first, which takes its descriptor. Other names stay. NULL, after
 * saying why, when that fails.
 */
const char *ppi_input_name(const char *path);

/* Whether a name is of such a descriptor: there is nothing to be rewritten. */
bool ppi_input_is_stream(const char *path);

#endif
