/* SPDX-License-Identifier: MIT */
/* Takes out of a profile what is nobody else's business. */
#include "config.h"

#include <portprof/tool.h>

#include "api/profile/model.h"
#include "api/core/diag.h"

#include <string.h>

/* What stands before and behind a path in a text. */
static const char around[] = " \t\n\"'=,:;()<>";

/* From the last folder's name on, without slashes at the end. */
static size_t skip_folders(const char *word, size_t length)
{
	size_t at = length;

	while (at > 0 && word[at - 1] == '/')
		at--;
	while (at > 0 && word[at - 1] != '/')
		at--;
	return at;
}

static bool is_path(const char *word, size_t length, bool takes_relative)
{
	return memchr(word, '/', length) &&
	       (takes_relative || strchr("/.~", word[0]));
}

/* The text with paths cut to their last names, in place. */
static void cut_paths(char *text, bool takes_relative)
{
	char *to = text;

	while (*text) {
		size_t length = strcspn(text, around);
		size_t skipped = 0;

		if (length == 0) {
			*to++ = *text++;
			continue;
		}
		if (is_path(text, length, takes_relative))
			skipped = skip_folders(text, length);
		memmove(to, text + skipped, length - skipped);
		to += length - skipped;
		text += length;
	}
	*to = '\0';
}

/* A copy that the profile keeps; NULL: out of memory. */
static const char *without_paths(portprof_profile *profile, const char *text,
                                 bool takes_relative)
{
	char *copy = ppi_arena_copy(&profile->arena, text, strlen(text));

	if (copy)
		cut_paths(copy, takes_relative);
	return copy;
}

static bool cut(portprof_profile *profile, const char **text,
                bool takes_relative)
{
	const char *copy = without_paths(profile, *text, takes_relative);

	if (copy)
		*text = copy;
	return copy != NULL;
}

static bool cut_string(portprof_profile *profile, uint32_t *string,
                       bool takes_relative)
{
	const char *copy = without_paths(
		profile, ppi_profile_string(profile, *string), takes_relative);
	uint32_t number = copy ? ppi_profile_text(profile, copy, strlen(copy))
	                       : PPI_NONE;

	if (number != PPI_NONE)
		*string = number;
	return number != PPI_NONE;
}

/* A file's own name may have blanks. */
static const char *last_name(const char *path)
{
	return strchr(path, '/') ? path + skip_folders(path, strlen(path))
	                         : path;
}

static bool cut_list(portprof_profile *profile, const struct ppi_vector *list)
{
	bool is_good = true;

	for (size_t i = 0; i < list->count; i++)
		is_good &= cut(profile, &PPI_AT(list, const char *)[i], false);
	return is_good;
}

static bool cut_events(portprof_profile *profile)
{
	bool is_good = true;

	for (size_t i = 0; i < profile->events.count; i++) {
		portprof_profile_event *event =
			&PPI_AT(&profile->events, struct ppi_profile_event)[i]
				 .shown;

		is_good &= cut(profile, &event->name, false) &&
		           cut(profile, &event->asked, false) &&
		           cut(profile, &event->description, false);
	}
	for (size_t i = 0; i < profile->types.count; i++)
		is_good &= cut_string(
			profile,
			&PPI_AT(&profile->types, struct ppi_type)[i].type,
			false);
	return is_good && cut_string(profile, &profile->default_type, false);
}

/* Engines put paths into the names of what they compile. */
static bool cut_functions(portprof_profile *profile)
{
	bool is_good = true;

	for (size_t i = 0; i < profile->functions.count; i++) {
		struct ppi_function *function =
			&PPI_AT(&profile->functions, struct ppi_function)[i];
		const char *file = last_name(
			ppi_profile_string(profile, function->filename));
		uint32_t number =
			ppi_profile_text(profile, file, strlen(file));

		is_good &= number != PPI_NONE &&
		           cut_string(profile, &function->name, false) &&
		           cut_string(profile, &function->system_name, false);
		if (number != PPI_NONE)
			function->filename = number;
	}
	return is_good;
}

static bool hide_paths(portprof_profile *profile)
{
	bool is_good = cut(profile, &profile->origin.command, true);

	for (size_t i = 0; i < profile->mappings.count; i++) {
		portprof_profile_mapping *mapping =
			&PPI_AT(&profile->mappings, struct ppi_mapping)[i].shown;

		mapping->path = last_name(mapping->path);
	}
	for (size_t i = 0; i < profile->comments.count; i++)
		is_good &= cut_string(
			profile, &PPI_AT(&profile->comments, uint32_t)[i],
			false);
	return is_good && cut_list(profile, &profile->notes) &&
	       cut_list(profile, &profile->facts) &&
	       cut_list(profile, &profile->passed_reasons) &&
	       cut_events(profile) && cut_functions(profile);
}

static void hide_host(portprof_profile *profile)
{
	const char **facts = PPI_AT(&profile->facts, const char *);
	size_t kept = 0;

	for (size_t i = 0; i < profile->facts.count; i++)
		if (strncmp(facts[i], "host: ", 6) != 0)
			facts[kept++] = facts[i];
	profile->facts.count = kept;
	profile->origin.fact_count = kept;
}

static void hide_source(portprof_profile *profile)
{
	for (size_t i = 0; i < profile->functions.count; i++) {
		struct ppi_function *function =
			&PPI_AT(&profile->functions, struct ppi_function)[i];

		function->filename = 0;
		function->start_line = 0;
	}
	for (size_t i = 0; i < profile->lines.count; i++) {
		PPI_AT(&profile->lines, struct ppi_line)[i].line = 0;
		PPI_AT(&profile->lines, struct ppi_line)[i].column = 0;
	}
	for (size_t i = 0; i < profile->mappings.count; i++) {
		struct ppi_mapping *mapping =
			&PPI_AT(&profile->mappings, struct ppi_mapping)[i];

		mapping->has_filenames = mapping->has_line_numbers = false;
	}
}

/* What is shown of functions and lines, as they are now. */
static void show_again(portprof_profile *profile)
{
	const struct ppi_function *functions = profile->functions.data;
	const struct ppi_line *lines = profile->lines.data;

	for (size_t i = 0; i < profile->lines.count; i++) {
		portprof_profile_line *shown = &PPI_AT(
			&profile->shown_lines, portprof_profile_line)[i];

		shown->function = ppi_profile_string(
			profile, functions[lines[i].function].name);
		shown->source_file = ppi_profile_string(
			profile, functions[lines[i].function].filename);
		shown->line = lines[i].line > 0 ? (uint64_t)lines[i].line : 0;
	}
	for (size_t i = 0; i < profile->locations.count; i++) {
		struct ppi_location *location =
			&PPI_AT(&profile->locations, struct ppi_location)[i];
		const portprof_profile_line *first =
			PPI_AT(&profile->shown_lines, portprof_profile_line) +
			location->first_line;

		if (!location->line_count)
			continue;
		location->shown.function = first->function;
		location->shown.source_file = first->source_file;
		location->shown.line = first->line;
	}
}

portprof_status portprof_profile_hide(portprof_profile *profile, unsigned what)
{
	bool is_good = true;

	if (!profile)
		return ppi_refuse_null("portprof_profile_hide", "profile");
	if (what & PORTPROF_HIDE_SOURCE)
		hide_source(profile);
	if (what & PORTPROF_HIDE_HOST)
		hide_host(profile);
	if (what & PORTPROF_HIDE_PATHS)
		is_good = hide_paths(profile);
	show_again(profile);
	return is_good ? PORTPROF_OK
	               : ppi_refuse(PORTPROF_E_NOMEM, "hide",
	                            "out of memory: something is left that was "
	                            "to be hidden");
}
