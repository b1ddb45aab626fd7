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

/* Where its files may be besides the usual; NULL or "" none. */
struct ppi_named_sources {
	char *debug_folder; /* with debug files */
	char *root;         /* in which they lie as if it were "/" */
};

/* False when out of memory; ppi_named_free is due all the same. */
bool ppi_named_find(struct ppi_named *named, const portprof_profile *profile,
                    bool lines, bool inlines,
                    const struct ppi_named_sources *sources);
void ppi_named_free(struct ppi_named *named);

#endif
