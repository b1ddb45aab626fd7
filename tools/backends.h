/* SPDX-License-Identifier: MIT */
/* The backends that this operating system has, for help and messages. */
#ifndef PPI_BACKENDS_H
#define PPI_BACKENDS_H

#include <portprof.h>

#include <stdbool.h>
#include <stddef.h>

/* Whether this operating system has it at all, usable or not. */
bool ppi_backend_is_here(const portprof_backend_info *backend);

/* "perf, timer, null": those that are here, as the library has them, best
 * first. Returns `out`. */
const char *ppi_backend_names(char *out, size_t bytes);

/* Find one by its name; false when there is none. */
bool ppi_backend_find_info(const char *name, portprof_backend_info *backend);

#endif
