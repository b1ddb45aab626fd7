/* SPDX-License-Identifier: MIT */
/* What samples point to, into a file: types, mappings, functions, locations. */
#include "api/profile/pprof/writing.h"

#include <errno.h>

static void put_types(struct ppi_writing *writing)
{
	const struct ppi_vector *types = &writing->profile->types;

	for (size_t i = 0; i < types->count; i++) {
		const struct ppi_type *type =
			&PPI_AT(types, struct ppi_type)[i];
		Ppi__ValueType message = PPI__VALUE_TYPE__INIT;

		message.type = ppi_writing_string(writing, type->type);
		message.unit = ppi_writing_string(writing, type->unit);
		ppi_encode(&writing->encoder, PPI_FIELD_SAMPLE_TYPE, &message);
	}
}

static void put_mappings(struct ppi_writing *writing)
{
	const struct ppi_vector *mappings = &writing->profile->mappings;

	for (size_t i = 0; i < mappings->count; i++) {
		const struct ppi_mapping *mapping =
			&PPI_AT(mappings, struct ppi_mapping)[i];
		Ppi__Mapping message = PPI__MAPPING__INIT;

		message.id = i + 1;
		message.memory_start = mapping->shown.start;
		message.memory_limit = mapping->shown.limit;
		message.file_offset = mapping->shown.file_offset;
		message.filename =
			ppi_writing_text(writing, mapping->shown.path);
		message.build_id =
			ppi_writing_text(writing, mapping->shown.build_id);
		message.has_functions = mapping->has_functions;
		message.has_filenames = mapping->has_filenames;
		message.has_line_numbers = mapping->has_line_numbers;
		message.has_inline_frames = mapping->has_inlines;
		ppi_encode(&writing->encoder, PPI_FIELD_MAPPING, &message);
	}
}

static void put_functions(struct ppi_writing *writing)
{
	const struct ppi_vector *functions = &writing->profile->functions;

	for (size_t i = 0; i < functions->count; i++) {
		const struct ppi_function *function =
			&PPI_AT(functions, struct ppi_function)[i];
		Ppi__Function message = PPI__FUNCTION__INIT;

		message.id = i + 1;
		message.name = ppi_writing_string(writing, function->name);
		message.system_name =
			ppi_writing_string(writing, function->system_name);
		message.filename =
			ppi_writing_string(writing, function->filename);
		message.start_line = function->start_line;
		ppi_encode(&writing->encoder, PPI_FIELD_FUNCTION, &message);
	}
}

static void put_location(struct ppi_writing *writing, size_t number)
{
	const portprof_profile *profile = writing->profile;
	const struct ppi_location *location =
		&PPI_AT(&profile->locations, struct ppi_location)[number];
	Ppi__Location message = PPI__LOCATION__INIT;
	Ppi__Line few[16], *lines = few, *few_pointers[16],
			   **pointers = few_pointers;
	size_t count = location->line_count;

	if (count > 16) {
		lines = ppi_arena_take(&writing->arena, count * sizeof(*lines));
		pointers = ppi_arena_take(&writing->arena,
		                          count * sizeof(*pointers));
	}
	if (!lines || !pointers) {
		ppi_writing_fail(writing, ENOMEM);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		const struct ppi_line *line =
			&PPI_AT(&profile->lines,
		                struct ppi_line)[location->first_line + i];

		ppi__line__init(&lines[i]);
		lines[i].function_id = line->function + 1;
		lines[i].line = line->line;
		lines[i].column = line->column;
		pointers[i] = &lines[i];
	}
	message.id = number + 1;
	if (location->shown.mapping != SIZE_MAX)
		message.mapping_id = location->shown.mapping + 1;
	message.address = location->shown.address;
	message.is_folded = location->is_folded;
	message.n_line = count;
	message.line = pointers;
	ppi_encode(&writing->encoder, PPI_FIELD_LOCATION, &message);
}

void ppi_writing_tables(struct ppi_writing *writing)
{
	put_types(writing);
	put_mappings(writing);
	put_functions(writing);
	for (size_t i = 0; i < writing->profile->locations.count; i++)
		put_location(writing, i);
}
