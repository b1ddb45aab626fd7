/* SPDX-License-Identifier: MIT */
/* Finds the same program, libraries and functions in two builds, whose names
 * differ from build to build and from process to process. */
#ifndef PPI_MATCH_H
#define PPI_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tools/view/rows.h"

struct ppi_match_side {
	const portprof_profile *profile;
	struct ppi_symbols *symbols;
	struct ppi_symbols_name *names; /* of its locations; may be changed */
	const struct ppi_view *view;    /* whose weights count */
};

/* "A=B" of --match: module A of before is B of after. */
struct ppi_match_pairs {
	const char *const *pairs;
	size_t count;
};

struct ppi_match;

/*
 * Give what is the same on both sides the same name, that of after. NULL when
 * out of memory. It owns names, so it must live as long as they do. `unused`
 * becomes a pair of --match that names a module which is not there, or NULL.
 */
struct ppi_match *ppi_match_find(const struct ppi_match_side sides[2],
                                 const struct ppi_match_pairs *asked,
                                 const char **unused);
void ppi_match_free(struct ppi_match *match);

/* Modules that were taken for one although their names differ, by number; false
 * past the last. */
bool ppi_match_pair(const struct ppi_match *match, size_t index,
                    const char **before, const char **after,
                    const char **why);

/* Weight in modules that the other side does not have, of side 0 or 1, and the
 * heaviest of those; NULL: there is none. */
const char *ppi_match_alone(const struct ppi_match *match, int side,
                            uint64_t *weight);

struct match_names;

#endif
