/* SPDX-License-Identifier: MIT */
/* Changes to a profile that was read: it gets names for code that was read
 * without them, and loses what is to be hidden. */
#include "config.h"

#include <portprof/profile.h>
#include <portprof/tool.h>

#include "api/common/diag.h"
#include "api/profile/image.h"
#include "api/profile/model.h"
#include "api/profile/sample_table.h"

#include <string.h>

/* ---- naming code ---- */

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

static bool name_location(portprof_profile *profile,
                          struct ppi_location *location,
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
	is_named = made && name_location(profile, to, lines, count, made);
	if (is_named)
		tell_mapping(profile, to->shown.mapping, lines, count);
	if (made != few)
		free(made);
	return is_named ? PORTPROF_OK
	                : ppi_refuse(PORTPROF_E_NOMEM, "name code",
	                             "out of memory");
}

/* ---- naming code by the time of its samples ---- */

/* Samples being entered anew, with what names them. */
struct retelling {
	portprof_profile *profile;
	portprof_code_fn find;
	void *context;
	uint32_t time_key;           /* PPI_NONE: no sample keeps its time */
	struct ppi_vector labels;    /* struct ppi_label: of the sample in hand */
	struct ppi_vector locations; /* uint32_t: likewise */
	uint64_t time_ns;
};

/* The sample's labels but for its time, which is 0 when it has none. */
static bool take_time(struct retelling *retelling, uint32_t set)
{
	size_t count;
	const struct ppi_label *labels =
		ppi_profile_label_set(retelling->profile, set, &count);

	retelling->labels.count = 0;
	retelling->time_ns = 0;
	for (size_t i = 0; i < count; i++) {
		if (labels[i].key == retelling->time_key && !labels[i].text &&
		    labels[i].number > 0)
			retelling->time_ns = (uint64_t)labels[i].number;
		else if (!ppi_vector_add(&retelling->labels, sizeof(*labels),
		                         &labels[i], 1))
			return false;
	}
	return true;
}

/* Memory that lies in no file, and that nobody has named. */
static bool may_change(const portprof_profile *profile, uint32_t number)
{
	const struct ppi_location *location =
		&PPI_AT(&profile->locations, struct ppi_location)[number];
	size_t mapping = location->shown.mapping;

	return location->line_count == 0 && !(location->shown.address >> 63) &&
	       (mapping >= profile->mappings.count ||
	        !ppi_is_shared_file(PPI_AT(&profile->mappings,
	                                   struct ppi_mapping)[mapping]
	                                    .shown.path));
}

/* The location as it was then: PPI_NONE when out of memory. */
static uint32_t name_then(struct retelling *retelling, uint32_t number,
                          uint32_t pid, bool *is_told)
{
	portprof_profile *profile = retelling->profile;
	const struct ppi_location location =
		PPI_AT(&profile->locations, struct ppi_location)[number];
	portprof_profile_line line = { "", "", 0 };
	size_t mapping = SIZE_MAX;
	struct ppi_line made;
	int code =
		retelling->find(retelling->context, pid, location.shown.address,
		                retelling->time_ns, &line, &mapping);

	*is_told &= code != PORTPROF_CODE_UNTOLD;
	if (code != PORTPROF_CODE_NAMED || !line.function || !line.function[0])
		return number;
	if (!make_line(profile, &line, &made))
		return PPI_NONE;
	if (mapping >= profile->mappings.count)
		mapping = location.shown.mapping;
	tell_mapping(profile, mapping, &line, 1);
	return ppi_profile_location(
		profile, mapping == SIZE_MAX ? PPI_NONE : (uint32_t)mapping,
		location.shown.address, &made, 1, location.is_folded);
}

static bool retell(struct retelling *retelling, const struct ppi_sample *sample)
{
	portprof_profile *profile = retelling->profile;
	portprof_profile_sample shown = sample->shown;
	uint32_t labels = sample->labels;
	bool is_told = true;

	if (!take_time(retelling, sample->labels))
		return false;
	retelling->locations.count = 0;
	if (!ppi_vector_add(&retelling->locations, sizeof(uint32_t),
	                    shown.locations, shown.depth))
		return false;
	for (size_t i = 0; retelling->time_ns && i < shown.depth; i++) {
		uint32_t *at = &PPI_AT(&retelling->locations, uint32_t)[i];

		if (may_change(profile, *at))
			*at = name_then(retelling, *at, shown.pid, &is_told);
		if (*at == PPI_NONE)
			return false;
	}
	if (retelling->time_ns && is_told)
		labels = ppi_profile_labels(profile, retelling->labels.data,
		                            retelling->labels.count);
	shown.locations = retelling->locations.data;
	return labels != PPI_NONE && ppi_profile_sample(profile, &shown, labels);
}

static bool has_times(const struct retelling *retelling)
{
	const portprof_profile *profile = retelling->profile;
	size_t count;

	if (retelling->time_key == PPI_NONE)
		return false;
	for (uint32_t set = 0; set < ppi_pool_count(&profile->label_sets);
	     set++) {
		const struct ppi_label *labels =
			ppi_profile_label_set(profile, set, &count);

		for (size_t i = 0; i < count; i++)
			if (labels[i].key == retelling->time_key)
				return true;
	}
	return false;
}

/* Make all samples anew: each that is there is given to `add`. As they were when
 * out of memory. */
static bool make_anew(portprof_profile *profile,
                      bool (*add)(void *context, size_t index,
                                  const struct ppi_sample *sample),
                      void *context)
{
	struct ppi_vector samples = profile->samples;
	struct ppi_pool keys = profile->sample_keys;
	bool is_good = true;

	profile->samples = (struct ppi_vector){ 0 };
	profile->sample_keys = (struct ppi_pool){ 0 };
	for (size_t i = 0; i < samples.count && is_good; i++)
		is_good = add(context, i,
		              &PPI_AT(&samples, struct ppi_sample)[i]);
	if (!is_good) {
		struct ppi_vector made = profile->samples;
		struct ppi_pool made_keys = profile->sample_keys;

		profile->samples = samples;
		profile->sample_keys = keys;
		samples = made;
		keys = made_keys;
	}
	ppi_vector_free(&samples);
	ppi_pool_free(&keys);
	return is_good;
}

static bool retell_one(void *context, size_t index,
                       const struct ppi_sample *sample)
{
	(void)index;
	return retell(context, sample);
}

portprof_status portprof_profile_name_by_time(portprof_profile *profile,
                                              portprof_code_fn find,
                                              void *context)
{
	static const char who[] = "portprof_profile_name_by_time";
	struct retelling retelling = { .profile = profile, .find = find,
		                       .context = context };
	bool is_good;

	if (!profile)
		return ppi_refuse_null(who, "profile");
	if (!find)
		return ppi_refuse_null(who, "find");
	retelling.time_key = ppi_pool_find(&profile->strings,
	                                   PPI_CODE_TIME_LABEL,
	                                   strlen(PPI_CODE_TIME_LABEL));
	is_good = !has_times(&retelling) ||
	          make_anew(profile, retell_one, &retelling);
	ppi_vector_free(&retelling.labels);
	ppi_vector_free(&retelling.locations);
	return is_good ? PORTPROF_OK
	               : ppi_refuse(PORTPROF_E_NOMEM, "name code",
	                            "out of memory");
}

/* ---- leaving samples out ---- */

struct leaving {
	portprof_profile *profile;
	const unsigned char *is_out;
	size_t count;
};

static bool keep_one(void *context, size_t index,
                     const struct ppi_sample *sample)
{
	const struct leaving *leaving = context;

	return (index < leaving->count && leaving->is_out[index]) ||
	       ppi_profile_sample(leaving->profile, &sample->shown,
	                          sample->labels);
}

portprof_status portprof_profile_leave_out(portprof_profile *profile,
                                           const unsigned char *is_out,
                                           size_t count)
{
	struct leaving leaving = { profile, is_out, count };

	if (!profile || (count && !is_out))
		return ppi_refuse_null("portprof_profile_leave_out",
		                       profile ? "is_out" : "profile");
	return make_anew(profile, keep_one, &leaving)
		? PORTPROF_OK
		: ppi_refuse(PORTPROF_E_NOMEM, "leave out", "out of memory");
}

/* ---- hiding what is nobody else's business ---- */

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

static bool cut_text(portprof_profile *profile, const char **text,
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
		is_good &= cut_text(profile, &PPI_AT(list, const char *)[i],
		                    false);
	return is_good;
}

static bool cut_events(portprof_profile *profile)
{
	bool is_good = true;

	for (size_t i = 0; i < profile->events.count; i++) {
		portprof_profile_event *event =
			&PPI_AT(&profile->events, struct ppi_profile_event)[i]
				 .shown;

		is_good &= cut_text(profile, &event->name, false) &&
		           cut_text(profile, &event->asked, false) &&
		           cut_text(profile, &event->description, false);
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
	bool is_good = cut_text(profile, &profile->origin.command, true);

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

/* What is said of the command keeps its first word, as a shell would read it. */
static size_t first_word(const char *text)
{
	bool is_quoted = false;
	size_t length = 0;

	for (; text[length] && (is_quoted || text[length] != ' '); length++)
		if (text[length] == '\\' && !is_quoted && text[length + 1])
			length++;
		else if (text[length] == '\'')
			is_quoted = !is_quoted;
	return length;
}

static bool hide_arguments(portprof_profile *profile)
{
	static const char system[] = "the whole system";
	static const char key[] = "portprof.command=";
	const char *command = profile->origin.command;
	size_t length = strcmp(command, system) == 0 ? strlen(command)
	                                             : first_word(command);
	bool is_good = true;

	command = ppi_arena_copy(&profile->arena, command, length);
	if (!command)
		return false;
	profile->origin.command = command;
	for (size_t i = 0; i < profile->comments.count; i++) {
		uint32_t *number = &PPI_AT(&profile->comments, uint32_t)[i];
		const char *text = ppi_profile_string(profile, *number);
		uint32_t cut;

		if (strncmp(text, key, sizeof(key) - 1) != 0)
			continue;
		cut = ppi_profile_text(profile, text,
		                       sizeof(key) - 1 +
		                       first_word(text + sizeof(key) - 1));
		is_good &= cut != PPI_NONE;
		if (cut != PPI_NONE)
			*number = cut;
	}
	return is_good;
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
	if (what & PORTPROF_HIDE_ARGUMENTS)
		is_good = hide_arguments(profile);
	if (what & PORTPROF_HIDE_PATHS)
		is_good &= hide_paths(profile);
	show_again(profile);
	return is_good ? PORTPROF_OK
	               : ppi_refuse(PORTPROF_E_NOMEM, "hide",
	                            "out of memory: something is left that was "
	                            "to be hidden");
}
