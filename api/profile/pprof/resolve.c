/* SPDX-License-Identifier: MIT */
/* From the messages of a file to a profile: every number is checked. Its
 * samples are resolved by resolve_samples.c. */
#include "api/profile/pprof/resolve.h"

#include "api/profile/pprof/account.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- why not ---- */

portprof_status ppi_resolve_bad(struct ppi_resolve *resolve, const char *what)
{
	return ppi_fail(resolve->why, PORTPROF_E_FORMAT, 0, "read profile",
	                "'%s' is damaged, or not a profile: %s", resolve->name,
	                what);
}

portprof_status ppi_resolve_memory(struct ppi_resolve *resolve)
{
	return ppi_fail(resolve->why, PORTPROF_E_NOMEM, 0, "read profile",
	                "out of memory while reading '%s'", resolve->name);
}

portprof_status ppi_resolve_bounds(struct ppi_resolve *resolve)
{
	const struct ppi_bounds *bounds = resolve->raw->bounds;

	if (!bounds || ppi_bounds_hold(bounds,
	                               ppi_raw_bytes(resolve->raw) +
	                                       ppi_profile_bytes(
						       resolve->profile)))
		return PORTPROF_OK;
	return ppi_bounds_fail(bounds, resolve->name, resolve->why);
}

/* ---- what it measures: types, events, origin, comments ---- */

/* Each is compared with all that came before it, and some of them are listed
 * in every report: no honest file comes near. */
enum { TYPES_MAX = 16384, REMARKS_MAX = 4096 };

/* Other units of time become nanoseconds, and values are multiplied. */
static bool settle_unit(portprof_profile *profile, struct ppi_type *type)
{
	static const struct {
		const char *unit;
		uint32_t factor;
	} units[] = {
		{ "microseconds", 1000 },  { "us", 1000 },
		{ "milliseconds", 1000000 }, { "ms", 1000000 },
		{ "seconds", 1000000000 }, { "s", 1000000000 },
		{ "ns", 1 },
	};
	const char *unit = ppi_profile_string(profile, type->unit);

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(unit, units[i].unit) == 0) {
			type->factor = units[i].factor;
			type->unit = ppi_profile_text(profile, "nanoseconds",
			                              11);
			break;
		}
	return type->unit != PPI_NONE;
}

static portprof_status resolve_types(struct ppi_resolve *resolve)
{
	const struct ppi_vector *list = &resolve->raw->lists[PPI_RAW_TYPES];
	const Ppi__ValueType *raw = list->data;

	if (list->count == 0)
		return ppi_resolve_bad(resolve, "it has no sample types");
	if (list->count > TYPES_MAX)
		return ppi_resolve_bad(resolve, "it has too many sample types");
	for (size_t i = 0; i < list->count; i++) {
		struct ppi_type type = {
			.type = ppi_resolve_text(resolve, raw[i].type),
			.unit = ppi_resolve_text(resolve, raw[i].unit),
		};

		if (type.type == PPI_NONE || type.unit == PPI_NONE)
			return ppi_resolve_bad(resolve,
			                       "a sample type has no name");
		if (!settle_unit(resolve->profile, &type) ||
		    !ppi_vector_add(&resolve->profile->types, sizeof(type),
		                    &type, 1))
			return ppi_resolve_memory(resolve);
	}
	return PORTPROF_OK;
}

static portprof_status open_account(struct ppi_resolve *resolve)
{
	const struct ppi_raw_single *single = &resolve->raw->single;
	portprof_status status = PORTPROF_OK;

	if (!single->account)
		return PORTPROF_OK;
	resolve->account = ppi_unpack(&ppi__account__descriptor,
	                              &resolve->arena, single->account,
	                              single->account_bytes, &status);
	if (status == PORTPROF_E_NOMEM)
		return ppi_resolve_memory(resolve);
	if (!resolve->account)
		return ppi_resolve_bad(resolve, "its account cannot be read");
	if (resolve->account->n_note > REMARKS_MAX ||
	    resolve->account->n_fact > REMARKS_MAX ||
	    resolve->account->n_passed_over > REMARKS_MAX)
		return ppi_resolve_bad(resolve, "it has too many notes");
	if (resolve->account->format <= PPI_ACCOUNT_FORMAT)
		return PORTPROF_OK;
	resolve->account = NULL;
	if (!ppi_profile_note(resolve->profile,
	                      "the account is of a newer portprof and cannot "
	                      "be read by this one"))
		return ppi_resolve_memory(resolve);
	return PORTPROF_OK;
}

/* An event number for each type, as the account tells; false when it does
 * not have each value exactly once. */
static bool adopt_layout(struct ppi_resolve *resolve)
{
	const Ppi__Account *account = resolve->account;
	struct ppi_vector *types = &resolve->profile->types;
	struct ppi_type *type = types->data;

	if (!account || account->n_event > types->count / 2 ||
	    2 * account->n_event != types->count)
		return false;
	for (size_t i = 0; i < types->count; i++)
		type[i].event = PPI_NONE;
	for (size_t i = 0; i < types->count; i++) {
		const Ppi__Event *event = account->event[i / 2];
		uint32_t value = i % 2 ? event->weight_value
		                       : event->samples_value;

		if (value >= types->count || type[value].event != PPI_NONE)
			return false;
		type[value].event = (uint32_t)(i / 2);
		type[value].is_samples = i % 2 == 0;
	}
	return true;
}

/*
 * The account is gone when another tool has rewritten the file; our order of
 * values is still told by their names: "samples", "samples:b", "b", "cpu".
 */
static bool recognise_layout(struct ppi_resolve *resolve)
{
	const portprof_profile *profile = resolve->profile;
	size_t count = profile->types.count, events = count / 2;
	struct ppi_type *type = profile->types.data;

	if (count % 2)
		return false;
	for (size_t i = 0; i < events; i++) {
		const char *samples = ppi_profile_string(profile, type[i].type);
		const char *name = ppi_profile_string(
			profile, type[count - 1 - i].type);

		if (strncmp(samples, "samples", 7) != 0)
			return false;
		samples += 7;
		if (i == 0 ? *samples != '\0'
		           : *samples != ':' || strcmp(samples + 1, name) != 0)
			return false;
	}
	for (size_t i = 0; i < count; i++) {
		type[i].is_samples = i < events;
		type[i].event = (uint32_t)(i < events ? i : count - 1 - i);
	}
	return true;
}

/* Another writer's types: the first is a count of samples for all of them
 * when it is called so; each of the others is an event. */
static void guess_layout(struct ppi_resolve *resolve)
{
	const portprof_profile *profile = resolve->profile;
	struct ppi_type *type = profile->types.data;
	bool is_shared =
		profile->types.count > 1 &&
		strcmp(ppi_profile_string(profile, type[0].type), "samples") ==
			0;

	for (size_t i = 0; i < profile->types.count; i++) {
		type[i].is_samples = is_shared && i == 0;
		type[i].event = (uint32_t)(is_shared && i > 0 ? i - 1 : i);
	}
}

static portprof_status name_events(struct ppi_resolve *resolve)
{
	portprof_profile *profile = resolve->profile;
	const struct ppi_type *type = profile->types.data;
	size_t count = profile->types.count, weights = 0;
	struct ppi_profile_event *event;

	for (size_t i = 0; i < count; i++)
		weights += !type[i].is_samples;
	if (!ppi_vector_add(&profile->events, sizeof(*event), NULL, weights))
		return ppi_resolve_memory(resolve);
	for (size_t i = 0; i < count; i++) {
		if (type[i].is_samples)
			continue;
		event = &PPI_AT(&profile->events,
		                struct ppi_profile_event)[type[i].event];
		event->shown.name = ppi_profile_string(profile, type[i].type);
		event->shown.asked = "";
		event->shown.description = "";
		event->shown.unit = PORTPROF_UNIT_COUNT;
		if (strcmp(ppi_profile_string(profile, type[i].unit),
		           "nanoseconds") == 0)
			event->shown.unit = PORTPROF_UNIT_NANOSECONDS;
	}
	return PORTPROF_OK;
}

static portprof_status adopt_events(struct ppi_resolve *resolve)
{
	portprof_profile *profile = resolve->profile;

	for (size_t i = 0; i < resolve->account->n_event; i++) {
		const Ppi__Event *from = resolve->account->event[i];
		struct ppi_profile_event event = {
			.shown.name = ppi_profile_keep(profile, from->name),
			.shown.asked = ppi_profile_keep(profile, from->asked),
			.shown.description =
				ppi_profile_keep(profile, from->description),
			.shown.unit = from->unit == PORTPROF_UNIT_NANOSECONDS
					      ? PORTPROF_UNIT_NANOSECONDS
					      : PORTPROF_UNIT_COUNT,
			.shown.has_stats = from->stats != NULL,
			.is_cpu_time = from->is_cpu_time,
		};

		if (from->stats)
			ppi_stats_unpack(from->stats, &event.shown.stats);
		if (!event.shown.name || !event.shown.asked ||
		    !event.shown.description ||
		    !ppi_vector_add(&profile->events, sizeof(event), &event,
		                    1))
			return ppi_resolve_memory(resolve);
	}
	return PORTPROF_OK;
}

static bool adopt_origin(portprof_profile *profile,
                         const Ppi__Account *account)
{
	portprof_profile_origin *origin = &profile->origin;

	profile->has_account = true;
	origin->is_complete = account->complete;
	origin->timeline_ns = account->timeline_ns;
	origin->chain_depth = account->chain_depth;
	origin->stack_bytes = account->stack_bytes;
	if (account->life)
		ppi_life_unpack(account->life, &origin->life);
	origin->backend = ppi_profile_keep(profile, account->backend);
	origin->command = ppi_profile_keep(profile, account->command);
	if (!origin->backend || !origin->command)
		return false;
	for (size_t i = 0; i < account->n_passed_over; i++)
		if (!ppi_profile_passed_over(profile,
		                             account->passed_over[i]->backend,
		                             account->passed_over[i]->reason))
			return false;
	for (size_t i = 0; i < account->n_note; i++)
		if (!ppi_profile_note(profile, account->note[i]))
			return false;
	for (size_t i = 0; i < account->n_fact; i++)
		if (!ppi_profile_fact(profile, account->fact[i]))
			return false;
	return true;
}

static portprof_status resolve_scalars(struct ppi_resolve *resolve)
{
	const struct ppi_raw_single *raw = &resolve->raw->single;
	portprof_profile *profile = resolve->profile;
	struct {
		int64_t raw;
		uint32_t *text;
	} const texts[] = {
		{ raw->default_type, &profile->default_type },
		{ raw->drop_frames, &profile->drop_frames },
		{ raw->keep_frames, &profile->keep_frames },
		{ raw->doc_url, &profile->doc_url },
		{ raw->period_type, &profile->period_type.type },
		{ raw->period_unit, &profile->period_type.unit },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		*texts[i].text = ppi_resolve_text(resolve, texts[i].raw);
		if (*texts[i].text == PPI_NONE)
			return ppi_resolve_bad(resolve,
			                       "a text is missing from its "
			                       "strings");
	}
	profile->period = raw->period;
	if (raw->time_ns > 0)
		profile->origin.start_ns = (uint64_t)raw->time_ns;
	if (raw->duration_ns > 0)
		profile->origin.duration_ns = (uint64_t)raw->duration_ns;
	return PORTPROF_OK;
}

static portprof_status resolve_comments(struct ppi_resolve *resolve)
{
	const struct ppi_vector *list = &resolve->raw->lists[PPI_RAW_COMMENTS];

	if (list->count > REMARKS_MAX)
		return ppi_resolve_bad(resolve, "it has too many comments");
	for (size_t i = 0; i < list->count; i++) {
		uint32_t text = ppi_resolve_text(
			resolve, PPI_AT(list, const int64_t)[i]);

		if (text == PPI_NONE)
			return ppi_resolve_bad(resolve,
			                       "a comment is missing from its "
			                       "strings");
		/* ours are made anew from the account */
		if (resolve->account &&
		    strncmp(ppi_profile_string(resolve->profile, text),
		            "portprof.", 9) == 0)
			continue;
		if (!ppi_profile_comment(resolve->profile, text))
			return ppi_resolve_memory(resolve);
	}
	return PORTPROF_OK;
}

/* ---- a difference of two profiles ---- */

static bool add_side(portprof_profile *profile, const char *side,
                     const portprof_profile_event *event)
{
	size_t bytes = strlen(side) + strlen(event->name) + sizeof("-");
	char *name = malloc(bytes);
	bool is_good = false;

	if (name) {
		snprintf(name, bytes, "%s-%s", side, event->name);
		is_good = ppi_profile_add_event(profile, name, "", event->unit,
		                                false);
	}
	free(name);
	return is_good;
}

/* The types of both sides, in the units of the file; `types` are the file's. What
 * it shows by default is what is after. */
static bool add_side_types(portprof_profile *profile,
                           const struct ppi_vector *types)
{
	const struct ppi_type *from = types->data;
	struct ppi_type *to;
	uint32_t wanted = profile->default_type, shown = 1;
	size_t last = 2 * profile->events.count - 1;
	const char *name;

	if (!ppi_profile_add_types(profile))
		return false;
	to = profile->types.data;
	for (size_t i = 0; i < types->count; i++) {
		if (from[i].is_samples)
			continue;
		/* weights stand backwards */
		to[last - 2 * from[i].event].unit =
			to[last - 2 * from[i].event - 1].unit = from[i].unit;
		if (from[i].type == wanted)
			shown = 2 * from[i].event + 1;
	}
	name = portprof_profile_event_get(profile, shown)->name;
	profile->default_type = ppi_profile_text(profile, name, strlen(name));
	return profile->default_type != PPI_NONE;
}

/* Each event becomes two. The types that samples have values of are kept aside. */
static portprof_status split_events(struct ppi_resolve *resolve)
{
	portprof_profile *profile = resolve->profile;
	struct ppi_vector events = profile->events;
	bool is_good = true;

	resolve->types = profile->types;
	profile->events = profile->types = (struct ppi_vector){ 0 };
	for (size_t i = 0; i < events.count && is_good; i++) {
		const portprof_profile_event *event =
			&PPI_AT(&events, struct ppi_profile_event)[i].shown;

		is_good = add_side(profile, "before", event) &&
		          add_side(profile, "after", event);
	}
	ppi_vector_free(&events);
	is_good = is_good && add_side_types(profile, &resolve->types) &&
	          ppi_profile_note(profile,
	                           "values below 0: a difference of two "
	                           "profiles; portprof diff FILE shows what "
	                           "changed from before to after");
	return is_good ? PORTPROF_OK : ppi_resolve_memory(resolve);
}

static portprof_status resolve_events(struct ppi_resolve *resolve)
{
	portprof_status status = resolve_types(resolve);

	if (status == PORTPROF_OK)
		status = open_account(resolve);
	if (status == PORTPROF_OK && adopt_layout(resolve)) {
		status = adopt_events(resolve);
	} else if (status == PORTPROF_OK) {
		if (!recognise_layout(resolve))
			guess_layout(resolve);
		status = name_events(resolve);
	}
	if (status == PORTPROF_OK && resolve->account &&
	    !adopt_origin(resolve->profile, resolve->account))
		status = ppi_resolve_memory(resolve);
	if (status == PORTPROF_OK)
		status = resolve_scalars(resolve);
	if (status == PORTPROF_OK && resolve->has_sides)
		status = split_events(resolve);
	if (status == PORTPROF_OK)
		status = resolve_comments(resolve);
	return status;
}

/* ---- strings, and the tables of mappings, functions and locations ---- */

static portprof_status resolve_texts(struct ppi_resolve *resolve)
{
	const struct ppi_vector *strings =
		&resolve->raw->lists[PPI_RAW_STRINGS];
	const struct ppi_raw_string *string = strings->data;

	if (strings->count == 0 || string[0].bytes != 0)
		return ppi_resolve_bad(resolve,
		                       "its strings do not begin with an empty "
		                       "one");
	for (size_t i = 0; i < strings->count; i++) {
		uint32_t text = ppi_profile_text(
			resolve->profile, string[i].text, string[i].bytes);

		if (text == PPI_NONE ||
		    !ppi_vector_add(&resolve->texts, sizeof(text), &text, 1))
			return ppi_resolve_memory(resolve);
	}
	return ppi_resolve_bounds(resolve);
}

/*
 * Something that refers to something missing: in a torn file it may have been
 * in the part that is gone.
 */
static portprof_status miss(struct ppi_resolve *resolve, const char *what)
{
	return resolve->is_torn ? PORTPROF_OK : ppi_resolve_bad(resolve, what);
}

static portprof_status add_mapping(struct ppi_resolve *resolve,
                                   const Ppi__Mapping *raw, uint32_t *number)
{
	uint32_t path = ppi_resolve_text(resolve, raw->filename);
	uint32_t build_id = ppi_resolve_text(resolve, raw->build_id);
	struct ppi_mapping mapping = {
		.shown = { raw->memory_start, raw->memory_limit,
		           raw->file_offset, NULL, NULL },
		.has_functions = raw->has_functions,
		.has_filenames = raw->has_filenames,
		.has_line_numbers = raw->has_line_numbers,
		.has_inlines = raw->has_inline_frames,
	};

	*number = PPI_NONE;
	if (path == PPI_NONE || build_id == PPI_NONE)
		return miss(resolve, "a mapping has no name");
	mapping.shown.path = ppi_profile_string(resolve->profile, path);
	mapping.shown.build_id =
		ppi_profile_string(resolve->profile, build_id);
	*number = ppi_profile_mapping(resolve->profile, &mapping, false);
	return *number == PPI_NONE ? ppi_resolve_memory(resolve)
	                           : ppi_resolve_bounds(resolve);
}

static portprof_status resolve_mappings(struct ppi_resolve *resolve,
                                        struct ppi_ids *ids)
{
	const struct ppi_vector *list = &resolve->raw->lists[PPI_RAW_MAPPINGS];
	const Ppi__Mapping *raw = list->data;
	uint64_t main = resolve->account ? resolve->account->main_mapping : 0;
	portprof_status status = PORTPROF_OK;
	uint32_t number;

	/* the program itself first, wherever it stands in the file */
	for (size_t i = 0; i < list->count && status == PORTPROF_OK; i++) {
		if (!ppi_ids_add(ids, raw[i].id))
			return ppi_resolve_bad(resolve,
			                       "two mappings have one id");
		if (main && raw[i].id == main) {
			status = add_mapping(resolve, &raw[i], &number);
			resolve->profile->has_main = number == 0;
		}
	}
	for (size_t i = 0; i < list->count && status == PORTPROF_OK; i++) {
		status = add_mapping(resolve, &raw[i], &number);
		if (status == PORTPROF_OK &&
		    !ppi_vector_add(&resolve->mappings, sizeof(number),
		                    &number, 1))
			return ppi_resolve_memory(resolve);
	}
	return status;
}

static portprof_status add_function(struct ppi_resolve *resolve,
                                    const Ppi__Function *raw, uint32_t *number)
{
	struct ppi_function function = {
		.name = ppi_resolve_text(resolve, raw->name),
		.system_name = ppi_resolve_text(resolve, raw->system_name),
		.filename = ppi_resolve_text(resolve, raw->filename),
		.start_line = raw->start_line,
	};

	*number = PPI_NONE;
	if (function.name == PPI_NONE || function.system_name == PPI_NONE ||
	    function.filename == PPI_NONE)
		return miss(resolve, "a function has no name");
	if (function.name == 0)
		function.name = function.system_name;
	*number = ppi_profile_function(resolve->profile, &function);
	return *number == PPI_NONE ? ppi_resolve_memory(resolve)
	                           : ppi_resolve_bounds(resolve);
}

static portprof_status resolve_functions(struct ppi_resolve *resolve,
                                         struct ppi_ids *ids)
{
	const struct ppi_vector *list = &resolve->raw->lists[PPI_RAW_FUNCTIONS];
	const Ppi__Function *raw = list->data;

	for (size_t i = 0; i < list->count; i++) {
		uint32_t number;
		portprof_status status =
			add_function(resolve, &raw[i], &number);

		if (status != PORTPROF_OK)
			return status;
		if (!ppi_ids_add(ids, raw[i].id))
			return ppi_resolve_bad(resolve,
			                       "two functions have one id");
		if (!ppi_vector_add(&resolve->functions, sizeof(number),
		                    &number, 1))
			return ppi_resolve_memory(resolve);
	}
	return PORTPROF_OK;
}

/* The number in `numbers` of what has that id; PPI_NONE when missing. */
static uint32_t look_up(const struct ppi_ids *ids,
                        const struct ppi_vector *numbers, uint64_t id)
{
	uint32_t at = ppi_ids_find(ids, id);

	return at == PPI_NONE ? PPI_NONE : PPI_AT(numbers, uint32_t)[at];
}

static portprof_status add_location(struct ppi_resolve *resolve,
                                    const struct ppi_raw_location *raw,
                                    const struct ppi_ids *mapping_ids,
                                    const struct ppi_ids *function_ids,
                                    uint32_t *number)
{
	const struct ppi_raw_line *all = PPI_AT(
		&resolve->raw->lists[PPI_RAW_LINES], const struct ppi_raw_line);
	struct ppi_line few[16], *lines = few;
	uint32_t mapping = PPI_NONE;
	bool is_whole = true;

	*number = PPI_NONE;
	if (raw->mapping) {
		mapping = look_up(mapping_ids, &resolve->mappings,
		                  raw->mapping);
		if (mapping == PPI_NONE)
			return miss(resolve, "a location has no mapping");
	}
	if (raw->line_count > sizeof(few) / sizeof(few[0]))
		lines = malloc(raw->line_count * sizeof(*lines));
	if (!lines)
		return ppi_resolve_memory(resolve);
	for (size_t i = 0; i < raw->line_count && is_whole; i++) {
		const struct ppi_raw_line *from = &all[raw->first_line + i];
		uint32_t function = look_up(function_ids, &resolve->functions,
		                            from->function);

		is_whole = function != PPI_NONE;
		lines[i] = (struct ppi_line){ function, from->line,
			                      from->column };
	}
	if (is_whole)
		*number = ppi_profile_location(resolve->profile, mapping,
		                               raw->address, lines,
		                               raw->line_count,
		                               raw->is_folded);
	if (lines != few)
		free(lines);
	if (!is_whole)
		return miss(resolve, "a line has no function");
	return *number == PPI_NONE ? ppi_resolve_memory(resolve)
	                           : ppi_resolve_bounds(resolve);
}

static portprof_status resolve_locations(struct ppi_resolve *resolve,
                                         const struct ppi_ids *mapping_ids,
                                         const struct ppi_ids *function_ids,
                                         struct ppi_ids *ids)
{
	const struct ppi_vector *list = &resolve->raw->lists[PPI_RAW_LOCATIONS];
	const struct ppi_raw_location *raw = list->data;

	for (size_t i = 0; i < list->count; i++) {
		uint32_t number;
		portprof_status status = add_location(
			resolve, &raw[i], mapping_ids, function_ids, &number);

		if (status != PORTPROF_OK)
			return status;
		if (!ppi_ids_add(ids, raw[i].id))
			return ppi_resolve_bad(resolve,
			                       "two locations have one id");
		if (!ppi_vector_add(&resolve->locations, sizeof(number),
		                    &number, 1))
			return ppi_resolve_memory(resolve);
	}
	return PORTPROF_OK;
}

/* ---- the file ---- */

portprof_status ppi_resolve(struct ppi_resolve *resolve)
{
	struct ppi_ids mapping_ids = { 0 }, function_ids = { 0 };
	portprof_status status;

	resolve->location_ids = (struct ppi_ids){ 0 };
	status = resolve_texts(resolve);
	if (status == PORTPROF_OK)
		status = resolve_events(resolve);
	if (status == PORTPROF_OK)
		status = resolve_mappings(resolve, &mapping_ids);
	if (status == PORTPROF_OK)
		status = resolve_functions(resolve, &function_ids);
	if (status == PORTPROF_OK)
		status = resolve_locations(resolve, &mapping_ids,
		                           &function_ids,
		                           &resolve->location_ids);
	if (status == PORTPROF_OK)
		status = ppi_resolve_samples(resolve);
	ppi_ids_free(&mapping_ids);
	ppi_ids_free(&function_ids);
	ppi_ids_free(&resolve->location_ids);
	ppi_vector_free(&resolve->types);
	ppi_vector_free(&resolve->texts);
	ppi_vector_free(&resolve->mappings);
	ppi_vector_free(&resolve->functions);
	ppi_vector_free(&resolve->locations);
	ppi_arena_free(&resolve->arena);
	return status;
}
