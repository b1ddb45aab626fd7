/* SPDX-License-Identifier: MIT */
/* What exports share: the names of the code, and the file that is written. */
#include "config.h"

#include "tools/export/export.h"

#include "tools/tools.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

bool ppi_export_write(const struct ppi_export *export,
                      bool (*put)(void *context, FILE *out), void *context)
{
	const char *path = export->output;
	FILE *out = path ? fopen(path, "w") : stdout;
	bool is_good = out != NULL, has_memory = true;

	if (out) {
		has_memory = put(context, out);
		is_good = fflush(out) == 0 && !ferror(out);
	}
	if (out && path && fclose(out) != 0)
		is_good = false;
	if (!has_memory)
		ppi_say("out of memory");
	else if (!is_good)
		ppi_say("cannot write '%s': %s; name another file with -o",
		        path ? path : "standard output", strerror(errno));
	return is_good && has_memory;
}
