/* SPDX-License-Identifier: MIT */
/* From the messages of a file to a profile: every number is checked. */
#include "api/profile/resolve.h"

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

portprof_status ppi_resolve(struct ppi_resolve *resolve)
{
	struct ppi_ids mapping_ids = { 0 }, function_ids = { 0 };
	portprof_status status = resolve_texts(resolve);

	if (status == PORTPROF_OK)
		status = ppi_resolve_events(resolve);
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
	ppi_vector_free(&resolve->texts);
	ppi_vector_free(&resolve->mappings);
	ppi_vector_free(&resolve->functions);
	ppi_vector_free(&resolve->locations);
	ppi_arena_free(&resolve->arena);
	return status;
}
