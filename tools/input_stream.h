/* SPDX-License-Identifier: MIT */
/* Inputs that are no files yet: a pipe, and what perf prints of its own. */
#ifndef PPI_INPUT_STREAM_H
#define PPI_INPUT_STREAM_H

#include <stdbool.h>

/*
 * The name by which an input can be read as often as needed: "-" is standard
 * input, and a pipe that this process was started with is copied to a file
 * without a name first, which takes its descriptor. Other names stay. NULL, after
 * saying why, when that fails.
 */
const char *ppi_input_name(const char *path);

/* Whether a name is of such a descriptor: there is nothing to be rewritten. */
bool ppi_input_is_stream(const char *path);

/*
 * A descriptor of what perf script prints of a perf.data, in a file without a
 * name; -1 after saying why not.
 */
int ppi_input_of_perf(const char *path);

#endif
