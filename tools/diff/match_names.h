/* SPDX-License-Identifier: MIT */
/* Functions of two builds by the names that their source has. */
#ifndef PPI_DIFF_MATCH_NAMES_H
#define PPI_DIFF_MATCH_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "tools/view/rows.h"

struct ppi_match_names;

struct ppi_match_side {
	const portprof_profile *profile;
	struct ppi_symbols_name *names; /* of its locations; may be changed */
	size_t event;
};

struct ppi_match_names *ppi_match_names_new(void);
void ppi_match_names_free(struct ppi_match_names *names);

/* What is called after its module and address, of another module. False when
 * out of memory, as below. */
bool ppi_match_names_move(struct ppi_match_names *names,
                          struct ppi_symbols_name *name, const char *module);

/* Once modules are the same. */
bool ppi_match_names_unify(struct ppi_match_names *names,
                           const struct ppi_match_side sides[2]);

#endif
