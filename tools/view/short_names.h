/* SPDX-License-Identifier: MIT */
/* Names of functions as people read and type them. */
#ifndef PPI_SHORT_NAMES_H
#define PPI_SHORT_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "tools/tools.h"

/* A name of C++ or Rust without arguments of templates and functions and
 * without the type that is returned: "std::vector<>::push_back". Returns
 * `out`, or `name` where nothing is left out or it does not fit. */
const char *ppi_short_name(const char *name, char *out, size_t bytes);

/*
 * A name that fits the columns of a terminal: where it is too long, first
 * arguments and templates go, then scopes from the left ("...Class::method"),
 * then letters from the right. Returns `room`, or `name` as it is.
 */
const char *ppi_fit_name(const char *name, size_t columns,
                         char room[PPI_SHOWN_BYTES]);

/* Whether a word is the last part of a name, or the last few: "method" and
 * "Class::method" of "company::Class<int>::method(int)". */
bool ppi_is_function_part(const char *wanted, const char *function);

/*
 * Which functions a word of the command line means: those of ppi_is_function;
 * where there are none, those of which it is the last part. `function_at` may
 * return NULL.
 */
typedef const char *(*ppi_function_at)(const void *things, size_t i);
void ppi_functions_meant(const char *wanted, size_t count,
                         ppi_function_at function_at, const void *things,
                         bool *is_meant);

/* "; did you mean A, B or C?" of functions that are like a word, in as few
 * letters as are enough to name them; "" when none is. The first of equals wins.
 * Returns `out`. */
const char *ppi_functions_like(const char *wanted, size_t count,
                               ppi_function_at function_at,
                               const void *things, char *out, size_t bytes);

#endif
