/* SPDX-License-Identifier: MIT */
/* What exports share: the names of the code. */
#include "config.h"

#include "tools/export/export.h"

#include "tools/tools.h"

#include <stdlib.h>

bool ppi_export_name(const struct ppi_export *export, bool has_lines,
                     struct ppi_export_names *names)
{
	names->names = NULL;
	names->symbols = ppi_symbols_new(
		portprof_profile_origin_get(export->profile)->start_ns);
	if (names->symbols) {
		ppi_symbols_want(names->symbols, has_lines,
		                 export->format == PPI_EXPORT_OTLP ||
		                         (export->has_inlines &&
		                          export->format ==
		                                  PPI_EXPORT_PERF_SCRIPT));
		names->names = ppi_name_locations(export->profile,
		                                  names->symbols);
	}
	if (names->names)
		return true;
	ppi_export_names_free(names);
	ppi_say("out of memory");
	return false;
}

void ppi_export_names_free(struct ppi_export_names *names)
{
	free(names->names);
	ppi_symbols_free(names->symbols);
}
