/* SPDX-License-Identifier: MIT */
/* A profile with the names of its code. */
#ifndef PPI_REPORT_NAMED_H
#define PPI_REPORT_NAMED_H

#include <portprof.h>

#include <stdbool.h>

#include "tools/symbols/symbols.h"

struct ppi_named {
	struct ppi_symbols *symbols;
	struct ppi_symbols_name *names; /* by location */
};

/* `folder`: with debug files besides the usual, or NULL. False when out of
 * memory; ppi_named_free is due all the same. */
bool ppi_named_find(struct ppi_named *named, const portprof_profile *profile,
                    bool lines, bool inlines, const char *folder);
void ppi_named_free(struct ppi_named *named);

#endif
