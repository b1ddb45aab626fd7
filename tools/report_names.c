/* SPDX-License-Identifier: MIT */
/* What a report calls things: its rows' keys, and the code of a profile. */
#include "config.h"

#include "tools/report_rows.h"

#include "tools/report_ticker.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *word;
	unsigned bits;
} words[] = {
	/* Functions of the same name in two modules are two functions. */
	{ "function", PPI_BY_FUNCTION | PPI_BY_MODULE },
	{ "symbol", PPI_BY_FUNCTION | PPI_BY_MODULE },
	{ "sym", PPI_BY_FUNCTION | PPI_BY_MODULE },
	{ "module", PPI_BY_MODULE },
	{ "dso", PPI_BY_MODULE },
	{ "line", PPI_BY_LINE | PPI_BY_FUNCTION | PPI_BY_MODULE },
	{ "srcline", PPI_BY_LINE | PPI_BY_FUNCTION | PPI_BY_MODULE },
	{ "address", PPI_BY_ADDRESS | PPI_BY_FUNCTION | PPI_BY_MODULE },
	{ "thread", PPI_BY_THREAD | PPI_BY_PROCESS },
	{ "tid", PPI_BY_THREAD | PPI_BY_PROCESS },
	{ "process", PPI_BY_PROCESS },
	{ "pid", PPI_BY_PROCESS },
	{ "comm", PPI_BY_COMM },
};

unsigned ppi_rows_keys(const char *text, const char **unknown)
{
	unsigned keys = 0;

	while (*text) {
		size_t length = strcspn(text, ","), i = 0;
		size_t count = sizeof(words) / sizeof(words[0]);

		while (i < count && (strlen(words[i].word) != length ||
		                     strncmp(words[i].word, text, length) != 0))
			i++;
		if (i == count) {
			*unknown = text;
			return 0;
		}
		keys |= words[i].bits;
		text += length;
		text += *text == ',';
	}
	*unknown = text;
	return keys;
}

static void place_of(const portprof_profile *profile,
                     const portprof_profile_location *location,
                     struct ppi_symbols_place *place)
{
	const portprof_profile_mapping *mapping =
		portprof_profile_mapping_get(profile, location->mapping);

	memset(place, 0, sizeof(*place));
	place->address = location->address;
	if (!mapping)
		return;
	place->has_mapping = true;
	place->map_start = mapping->start;
	place->map_offset = mapping->file_offset;
	place->path = mapping->path;
	place->build_id = mapping->build_id;
}

struct ppi_symbols_name *ppi_name_locations(const portprof_profile *profile,
                                            struct ppi_symbols *symbols)
{
	size_t count = portprof_profile_location_count(profile);
	struct ppi_symbols_name *names = calloc(count + 1, sizeof(*names));

	atomic_store(&ppi_ticker_all, count);
	for (size_t i = 0; names && i < count; i++) {
		const portprof_profile_location *location =
			portprof_profile_location_get(profile, i);
		struct ppi_symbols_place place;

		place_of(profile, location, &place);
		if (location->function[0]) {
			const struct ppi_symbols_given given = {
				location->function, location->source_file,
				location->line
			};

			ppi_symbols_take(symbols, &place, &given, 1, &names[i]);
		} else {
			ppi_symbols_find(symbols, &place, &names[i]);
		}
		atomic_store(&ppi_ticker_done, i + 1);
	}
	return names;
}
