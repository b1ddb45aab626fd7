/* SPDX-License-Identifier: MIT */
/* How things get into a profile, for readers of all formats: each thing once,
 * equal samples added up. */
#include "api/profile/model.h"

#include "api/profile/image.h"

#include <stdio.h>

portprof_profile *ppi_profile_new(void)
{
	portprof_profile *profile = calloc(1, sizeof(*profile));

	if (!profile)
		return NULL;
	if (ppi_profile_text(profile, "", 0) != 0 ||
	    ppi_profile_labels(profile, NULL, 0) != 0) {
		portprof_profile_free(profile);
		return NULL;
	}
	profile->origin.backend = "";
	profile->origin.command = "";
	return profile;
}

uint32_t ppi_profile_text(portprof_profile *profile, const char *text,
                          size_t bytes)
{
	return ppi_pool_enter(&profile->strings, text, bytes);
}

const char *ppi_profile_string(const portprof_profile *profile, uint32_t text)
{
	return ppi_pool_key(&profile->strings, text, NULL);
}

const char *ppi_profile_keep(portprof_profile *profile, const char *text)
{
	uint32_t number = ppi_profile_text(profile, text, strlen(text));

	return number == PPI_NONE ? NULL : ppi_profile_string(profile, number);
}

/* ---- events, and with them sample types, of another format ---- */

bool ppi_profile_add_event(portprof_profile *profile, const char *name,
                           const char *description, portprof_unit unit,
                           bool is_cpu_time)
{
	struct ppi_profile_event event = {
		.shown.name = ppi_profile_keep(profile, name),
		.shown.asked = "",
		.shown.description = ppi_profile_keep(profile, description),
		.shown.unit = unit,
		.is_cpu_time = is_cpu_time,
	};

	return event.shown.name && event.shown.description &&
	       ppi_vector_add(&profile->events, sizeof(event), &event, 1);
}

static bool add_type(portprof_profile *profile, const char *before,
                     size_t number, bool is_samples)
{
	const portprof_profile_event *event =
		portprof_profile_event_get(profile, number);
	const char *unit =
		!is_samples && event->unit == PORTPROF_UNIT_NANOSECONDS
			? "nanoseconds" : "count";
	const char *name = is_samples && number == 0 ? "" : event->name;
	size_t bytes = strlen(before) + strlen(name) + 1;
	char *text = malloc(bytes);
	struct ppi_type type = { .event = (uint32_t)number,
		                 .is_samples = is_samples };

	if (!text)
		return false;
	snprintf(text, bytes, "%s%s", before, name);
	type.type = ppi_profile_text(profile, text, strlen(text));
	type.unit = ppi_profile_text(profile, unit, strlen(unit));
	free(text);
	return type.type != PPI_NONE && type.unit != PPI_NONE &&
	       ppi_vector_add(&profile->types, sizeof(type), &type, 1);
}

bool ppi_profile_add_types(portprof_profile *profile)
{
	size_t count = profile->events.count;
	const char *first = portprof_profile_event_get(profile, 0)->name;

	profile->default_type = ppi_profile_text(profile, first, strlen(first));
	if (profile->default_type == PPI_NONE)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!add_type(profile, i ? "samples:" : "samples", i, true))
			return false;
	for (size_t i = count; i-- > 0;)
		if (!add_type(profile, "", i, false))
			return false;
	return true;
}

/* ---- mappings and functions ---- */

/* What makes a mapping another one; all of it, or all but the place. */
struct mapping_key {
	uint64_t start, size, file_offset;
	uint32_t path, build_id;
};

static bool make_mapping_key(portprof_profile *profile,
                             const portprof_profile_mapping *shown,
                             struct mapping_key *key)
{
	key->start = shown->start;
	key->size = shown->limit - shown->start;
	key->file_offset = shown->file_offset;
	key->path = ppi_profile_text(profile, shown->path,
	                             strlen(shown->path));
	key->build_id = ppi_profile_text(profile, shown->build_id,
	                                 strlen(shown->build_id));
	return key->path != PPI_NONE && key->build_id != PPI_NONE;
}

static uint32_t add_mapping(portprof_profile *profile,
                            const struct ppi_mapping *mapping,
                            const struct mapping_key *key,
                            const struct mapping_key *content)
{
	struct ppi_mapping added = *mapping;
	uint32_t number, of_content;

	if (!ppi_vector_reserve(&profile->mappings, sizeof(added), 1) ||
	    !ppi_vector_reserve(&profile->content_mappings, sizeof(number), 1))
		return PPI_NONE;
	number = ppi_pool_enter(&profile->mapping_keys, key, sizeof(*key));
	if (number == PPI_NONE)
		return PPI_NONE;
	of_content = ppi_pool_enter(&profile->mapping_contents, content,
	                            sizeof(*content));
	if (of_content == PPI_NONE) {
		ppi_pool_drop_last(&profile->mapping_keys);
		return PPI_NONE;
	}
	if (of_content == profile->content_mappings.count)
		ppi_vector_add(&profile->content_mappings, sizeof(number),
		               &number, 1);
	added.shown.path = ppi_profile_string(profile, key->path);
	added.shown.build_id = ppi_profile_string(profile, key->build_id);
	ppi_vector_add(&profile->mappings, sizeof(added), &added, 1);
	return number;
}

uint32_t ppi_profile_mapping(portprof_profile *profile,
                             const struct ppi_mapping *mapping, bool merge)
{
	struct mapping_key key, content;
	uint32_t number;

	if (!make_mapping_key(profile, &mapping->shown, &key))
		return PPI_NONE;
	content = key;
	if (key.build_id != 0 || ppi_is_shared_file(mapping->shown.path))
		content.start = 0;
	if (merge) {
		number = ppi_pool_find(&profile->mapping_contents, &content,
		                       sizeof(content));
		if (number != PPI_NONE)
			return PPI_AT(&profile->content_mappings,
			              uint32_t)[number];
	}
	number = ppi_pool_find(&profile->mapping_keys, &key, sizeof(key));
	if (number != PPI_NONE)
		return number;
	return add_mapping(profile, mapping, &key, &content);
}

uint32_t ppi_profile_function(portprof_profile *profile,
                              const struct ppi_function *function)
{
	uint32_t number;

	if (!ppi_vector_reserve(&profile->functions, sizeof(*function), 1))
		return PPI_NONE;
	number = ppi_pool_enter(&profile->function_keys, function,
	                        sizeof(*function));
	if (number == profile->functions.count)
		ppi_vector_add(&profile->functions, sizeof(*function),
		               function, 1);
	return number;
}

/* ---- locations and their lines ---- */

/* A location with its lines, in the memory that its key needs. */
static uint64_t *make_location_key(uint32_t mapping, uint64_t address,
                                   const struct ppi_line *lines,
                                   size_t line_count, bool is_folded,
                                   size_t *bytes)
{
	uint64_t *key;

	*bytes = 2 * sizeof(*key) + line_count * sizeof(*lines);
	key = malloc(*bytes);
	if (!key)
		return NULL;
	key[0] = (uint64_t)mapping << 1 | is_folded;
	key[1] = address;
	if (line_count)
		memcpy(key + 2, lines, line_count * sizeof(*lines));
	return key;
}

/* What callers see of a line. */
static portprof_profile_line show_line(const portprof_profile *profile,
                                       const struct ppi_line *line)
{
	const struct ppi_function *function =
		&PPI_AT(&profile->functions, struct ppi_function)[line->function];

	return (portprof_profile_line){
		ppi_profile_string(profile, function->name),
		ppi_profile_string(profile, function->filename),
		line->line > 0 ? (uint64_t)line->line : 0,
	};
}

bool ppi_profile_lines(portprof_profile *profile, const struct ppi_line *lines,
                       size_t count, size_t *first)
{
	*first = profile->lines.count;
	if (!ppi_vector_reserve(&profile->lines, sizeof(*lines), count) ||
	    !ppi_vector_reserve(&profile->shown_lines,
	                        sizeof(portprof_profile_line), count))
		return false;
	for (size_t i = 0; i < count; i++) {
		portprof_profile_line shown = show_line(profile, &lines[i]);

		ppi_vector_add(&profile->shown_lines, sizeof(shown), &shown,
		               1);
	}
	return ppi_vector_add(&profile->lines, sizeof(*lines), lines, count);
}

static bool add_location(portprof_profile *profile, uint32_t mapping,
                         uint64_t address, const struct ppi_line *lines,
                         size_t line_count, bool is_folded)
{
	struct ppi_location location = {
		.shown = { address, mapping == PPI_NONE ? SIZE_MAX : mapping,
		           "", "", 0 },
		.line_count = line_count,
		.is_folded = is_folded,
	};

	if (line_count) {
		portprof_profile_line first = show_line(profile, &lines[0]);

		location.shown.function = first.function;
		location.shown.source_file = first.source_file;
		location.shown.line = first.line;
	}
	return ppi_vector_reserve(&profile->locations, sizeof(location), 1) &&
	       ppi_profile_lines(profile, lines, line_count,
	                         &location.first_line) &&
	       ppi_vector_add(&profile->locations, sizeof(location), &location,
	                      1);
}

/*
 * The keys of all locations once more, after some were named. One that is now
 * what another is already (one file was named, the other not, and they were
 * merged) gets a key that nobody looks for.
 */
static bool renew_location_keys(portprof_profile *profile)
{
	ppi_pool_free(&profile->location_keys);
	for (uint32_t i = 0; i < profile->locations.count; i++) {
		const struct ppi_location *location =
			&PPI_AT(&profile->locations, struct ppi_location)[i];
		const struct ppi_line *lines =
			PPI_AT(&profile->lines, struct ppi_line) +
			location->first_line;
		size_t bytes, mapping = location->shown.mapping;
		uint64_t *key = make_location_key(
			mapping == SIZE_MAX ? PPI_NONE : (uint32_t)mapping,
			location->shown.address, lines, location->line_count,
			location->is_folded, &bytes);
		uint32_t number = PPI_NONE;

		if (key)
			number = ppi_pool_enter(&profile->location_keys, key,
			                        bytes);
		free(key);
		if (number != PPI_NONE && number != i)
			number = ppi_pool_enter(&profile->location_keys, &i,
			                        sizeof(i));
		if (number != i)
			return false;
	}
	profile->has_old_keys = false;
	return true;
}

uint32_t ppi_profile_location(portprof_profile *profile, uint32_t mapping,
                              uint64_t address, const struct ppi_line *lines,
                              size_t line_count, bool is_folded)
{
	uint64_t small[5], *key = small;
	size_t bytes = 2 * sizeof(*key);
	uint32_t number;

	if (profile->has_old_keys && !renew_location_keys(profile))
		return PPI_NONE;
	if (line_count) {
		key = make_location_key(mapping, address, lines, line_count,
		                        is_folded, &bytes);
	} else {
		key[0] = (uint64_t)mapping << 1 | is_folded;
		key[1] = address;
	}
	if (!key)
		return PPI_NONE;
	number = ppi_pool_enter(&profile->location_keys, key, bytes);
	if (key != small)
		free(key);
	if (number == profile->locations.count &&
	    !add_location(profile, mapping, address, lines, line_count,
	                  is_folded)) {
		ppi_pool_drop_last(&profile->location_keys);
		return PPI_NONE;
	}
	return number;
}

/* ---- samples and their labels ---- */

uint32_t ppi_profile_labels(portprof_profile *profile,
                            const struct ppi_label *labels, size_t count)
{
	/* the empty set was the first to come */
	if (count == 0 && ppi_pool_count(&profile->label_sets))
		return 0;
	return ppi_pool_enter(&profile->label_sets, labels,
	                      count * sizeof(*labels));
}

const struct ppi_label *ppi_profile_label_set(const portprof_profile *profile,
                                              uint32_t set, size_t *count)
{
	const struct ppi_label *labels =
		ppi_pool_key(&profile->label_sets, set, count);

	*count /= sizeof(*labels);
	return labels;
}

/* A sample's key: whose it is, then its locations. */
enum { KEY_PID, KEY_TID, KEY_LABELS, KEY_NAME, KEY_LOCATIONS };

static bool add_sample(portprof_profile *profile, uint32_t number,
                       const portprof_profile_sample *shown, uint32_t labels)
{
	size_t events = profile->events.count;
	const uint32_t *key =
		ppi_pool_key(&profile->sample_keys, number, NULL);
	uint64_t *values = ppi_arena_take(&profile->arena,
	                                  2 * events * sizeof(*values) + 1);
	struct ppi_sample sample = { *shown, labels };

	if (!values)
		return false;
	memset(values, 0, 2 * events * sizeof(*values));
	sample.shown.thread_name = ppi_profile_string(profile, key[KEY_NAME]);
	sample.shown.locations = key + KEY_LOCATIONS;
	sample.shown.samples = values;
	sample.shown.weights = values + events;
	return ppi_vector_add(&profile->samples, sizeof(sample), &sample, 1);
}

bool ppi_profile_sample(portprof_profile *profile,
                        const portprof_profile_sample *shown, uint32_t labels)
{
	size_t events = profile->events.count, words;
	const char *name = shown->thread_name ? shown->thread_name : "";
	uint32_t text = ppi_profile_text(profile, name, strlen(name));
	uint32_t small[64], *key = small, number;
	uint64_t *values;

	if (text == PPI_NONE)
		return false;
	words = KEY_LOCATIONS + shown->depth;
	if (words > sizeof(small) / sizeof(small[0]))
		key = malloc(words * sizeof(*key));
	if (!key)
		return false;
	key[KEY_PID] = shown->pid;
	key[KEY_TID] = shown->tid;
	key[KEY_LABELS] = labels;
	key[KEY_NAME] = text;
	if (shown->depth)
		memcpy(key + KEY_LOCATIONS, shown->locations,
		       shown->depth * sizeof(*key));
	number = ppi_pool_enter(&profile->sample_keys, key,
	                        words * sizeof(*key));
	if (key != small)
		free(key);
	if (number == PPI_NONE)
		return false;
	if (number == profile->samples.count &&
	    !add_sample(profile, number, shown, labels)) {
		ppi_pool_drop_last(&profile->sample_keys);
		return false;
	}
	/* the profile's own memory, constant only for those it is shown to */
	values = (uint64_t *)(uintptr_t)PPI_AT(&profile->samples,
	                                       struct ppi_sample)[number]
			 .shown.samples;
	for (size_t i = 0; i < events; i++) {
		values[i] = ppi_add(values[i], shown->samples[i]);
		values[events + i] =
			ppi_add(values[events + i], shown->weights[i]);
	}
	return true;
}

/* ---- threads ---- */

bool ppi_profile_thread(portprof_profile *profile, uint32_t pid, uint32_t tid,
                        const char *name, bool replace)
{
	const uint32_t key[2] = { pid, tid };
	portprof_profile_thread thread = { pid, tid, "", -1, 0 };
	uint32_t number;

	if (!ppi_vector_reserve(&profile->threads, sizeof(thread), 1))
		return false;
	number = ppi_pool_enter(&profile->thread_keys, key, sizeof(key));
	if (number == PPI_NONE)
		return false;
	if (number == profile->threads.count)
		ppi_vector_add(&profile->threads, sizeof(thread), &thread, 1);
	thread = PPI_AT(&profile->threads, portprof_profile_thread)[number];
	if (!name[0] || (thread.name[0] && !replace))
		return true;
	name = ppi_profile_keep(profile, name);
	if (!name)
		return false;
	PPI_AT(&profile->threads, portprof_profile_thread)[number].name = name;
	return true;
}

void ppi_profile_owner(portprof_profile *profile, uint32_t pid, int64_t owner,
                       uint64_t began_ns)
{
	const uint32_t key[2] = { pid, pid };
	uint32_t number =
		ppi_pool_find(&profile->thread_keys, key, sizeof(key));
	portprof_profile_thread *thread;

	if (number == PPI_NONE || owner < 0)
		return;
	thread = &PPI_AT(&profile->threads, portprof_profile_thread)[number];
	if (thread->owner >= 0)
		return;
	thread->owner = owner;
	thread->began_ns = began_ns;
}

/* ---- the memory that it takes ---- */

uint64_t ppi_profile_bytes(const portprof_profile *profile)
{
	const struct ppi_pool *pools[] = {
		&profile->strings,       &profile->mapping_keys,
		&profile->mapping_contents, &profile->function_keys,
		&profile->location_keys, &profile->label_sets,
		&profile->sample_keys,   &profile->thread_keys,
	};
	const struct {
		const struct ppi_vector *vector;
		size_t bytes;
	} vectors[] = {
		{ &profile->mappings, sizeof(struct ppi_mapping) },
		{ &profile->content_mappings, sizeof(uint32_t) },
		{ &profile->functions, sizeof(struct ppi_function) },
		{ &profile->locations, sizeof(struct ppi_location) },
		{ &profile->lines, sizeof(struct ppi_line) },
		{ &profile->shown_lines, sizeof(portprof_profile_line) },
		{ &profile->samples, sizeof(struct ppi_sample) },
		{ &profile->threads, sizeof(portprof_profile_thread) },
	};
	uint64_t sum = profile->arena.total;

	for (size_t i = 0; i < sizeof(pools) / sizeof(pools[0]); i++)
		sum += ppi_pool_bytes(pools[i]);
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++)
		sum += vectors[i].vector->room * vectors[i].bytes;
	return sum;
}
