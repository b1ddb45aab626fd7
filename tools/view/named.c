/* SPDX-License-Identifier: MIT */
/* A profile with the names of its code. */
#include "config.h"

#include "tools/view/named.h"

#include "tools/view/rows.h"
#include "tools/view/ticker.h"

#include <stdlib.h>

/* Looking for frame pointers takes time that flat profiles can spare. */
static bool has_callers(const portprof_profile *profile)
{
	const portprof_profile_sample *sample;

	if (portprof_profile_origin_get(profile)->chain_depth)
		return true;
	for (size_t i = 0;
	     (sample = portprof_profile_sample_get(profile, i)) != NULL; i++)
		if (sample->depth > 1)
			return true;
	return false;
}

bool ppi_named_find(struct ppi_named *named, const portprof_profile *profile,
                    bool lines, bool inlines,
                    const struct ppi_named_sources *sources)
{
	*named = (struct ppi_named){ 0 };
	named->symbols =
		ppi_symbols_new(portprof_profile_origin_get(profile)->start_ns);
	if (!named->symbols)
		return false;
	ppi_symbols_want(named->symbols, lines, inlines);
	if (has_callers(profile))
		ppi_symbols_want_frames(named->symbols);
	ppi_symbols_look_in(named->symbols, sources->debug_folder);
	ppi_symbols_look_below(named->symbols, sources->root);
	ppi_ticker_begin("naming code", "addresses");
	named->names = ppi_name_locations(profile, named->symbols);
	ppi_ticker_end();
	return named->names != NULL;
}

void ppi_named_free(struct ppi_named *named)
{
	free(named->names);
	ppi_symbols_free(named->symbols);
}
