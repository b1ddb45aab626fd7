/* SPDX-License-Identifier: MIT */
/* All calls as a tree of functions, for people. */
#ifndef PPI_REPORT_TREE_H
#define PPI_REPORT_TREE_H

#include <stdbool.h>
#include <stdio.h>

#include "tools/report/report.h"

/* What the tree is of. */
struct ppi_tree_wish {
	enum ppi_edge edge;   /* callees: downwards, callers: upwards */
	const char *function; /* from it on; NULL: downwards from where each
	                       * thread begins */
	bool has_full_names;  /* else what C++ and Rust put into names of types
	                       * and arguments is left out */
	bool is_whole;        /* else branches of less than one percent of
	                       * the total are summed up */
};

/* False when out of memory. *weight: of what is in the tree; 0: the function
 * is in no sample. */
bool ppi_report_print_tree(const struct ppi_report *report,
                           const struct ppi_view *view,
                           const struct ppi_tree_wish *wish, FILE *out,
                           uint64_t *weight);

/* A name of C++ or Rust without arguments of templates and functions and
 * without the type that is returned: "std::vector<>::push_back". Returns
 * `out`, or `name` where nothing is left out or it does not fit. */
const char *ppi_short_name(const char *name, char *out, size_t bytes);

#endif
