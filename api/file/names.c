/* SPDX-License-Identifier: MIT */
/* Names given to the code of a profile that was read without them. */
#include <portprof/profile.h>

#include "api/file/model.h"
#include "api/internal/diag.h"

/* Nobody is inlined so deep; a caller that says so has made a mistake. */
enum { LINES_MAX = 1024 };

static uint32_t text_of(portprof_profile *profile, const char *text)
{
	return ppi_profile_text(profile, text ? text : "",
	                        text ? strlen(text) : 0);
}

static bool make_line(portprof_profile *profile,
                      const portprof_profile_line *from, struct ppi_line *to)
{
	struct ppi_function function = {
		.name = text_of(profile, from->function),
		.filename = text_of(profile, from->source_file),
	};
	uint32_t number = PPI_NONE;

	if (function.name != PPI_NONE && function.filename != PPI_NONE)
		number = ppi_profile_function(profile, &function);
	*to = (struct ppi_line){ number, 0, 0 };
	if (from->line <= INT64_MAX)
		to->line = (int64_t)from->line;
	return number != PPI_NONE;
}

/* What readers may expect of the code in a mapping (profile.proto). */
static void tell_mapping(portprof_profile *profile, size_t number,
                         const portprof_profile_line *lines, size_t count)
{
	struct ppi_mapping *mapping;

	if (number >= profile->mappings.count)
		return;
	mapping = &PPI_AT(&profile->mappings, struct ppi_mapping)[number];
	mapping->has_functions = true;
	mapping->has_inlines |= count > 1;
	for (size_t i = 0; i < count; i++) {
		mapping->has_filenames |=
			lines[i].source_file && lines[i].source_file[0];
		mapping->has_line_numbers |= lines[i].line > 0;
	}
}

static bool name(portprof_profile *profile, struct ppi_location *location,
                 const portprof_profile_line *lines, size_t count,
                 struct ppi_line *made)
{
	const portprof_profile_line *first;
	size_t at;

	for (size_t i = 0; i < count; i++)
		if (!make_line(profile, &lines[i], &made[i]))
			return false;
	if (!ppi_profile_lines(profile, made, count, &at))
		return false;
	first = PPI_AT(&profile->shown_lines, portprof_profile_line) + at;
	location->first_line = at;
	location->line_count = count;
	location->shown.function = first->function;
	location->shown.source_file = first->source_file;
	location->shown.line = first->line;
	profile->has_old_keys = true;
	return true;
}

portprof_status portprof_profile_name_location(
	portprof_profile *profile, size_t location,
	const portprof_profile_line *lines, size_t count)
{
	static const char who[] = "portprof_profile_name_location";
	struct ppi_location *to;
	struct ppi_line few[16], *made = few;
	bool is_named;

	if (!profile)
		return ppi_refuse_null(who, "profile");
	if (!lines)
		return ppi_refuse_null(who, "lines");
	if (location >= profile->locations.count)
		return ppi_refuse(PORTPROF_E_INVALID, "name code",
		                  "the profile has %zu locations, and none has "
		                  "the number %zu",
		                  profile->locations.count, location);
	if (count == 0 || count > LINES_MAX)
		return ppi_refuse(PORTPROF_E_INVALID, "name code",
		                  "a location has 1 to %d functions, not %zu",
		                  LINES_MAX, count);
	for (size_t i = 0; i < count; i++)
		if (!lines[i].function || !lines[i].function[0])
			return ppi_refuse(PORTPROF_E_INVALID, "name code",
			                  "line %zu names no function", i);
	if (count > sizeof(few) / sizeof(few[0]))
		made = malloc(count * sizeof(*made));
	to = &PPI_AT(&profile->locations, struct ppi_location)[location];
	is_named = made && name(profile, to, lines, count, made);
	if (is_named)
		tell_mapping(profile, to->shown.mapping, lines, count);
	if (made != few)
		free(made);
	return is_named ? PORTPROF_OK
	                : ppi_refuse(PORTPROF_E_NOMEM, "name code",
	                             "out of memory");
}
