/* SPDX-License-Identifier: MIT */
/* Two profiles of the same events into one. */
#include <portprof/profile.h>

#include "api/profile/model.h"
#include "api/core/diag.h"

/* Numbers of `from` and what they are in `into`. */
struct merge {
	portprof_profile *into;
	const portprof_profile *from;
	uint32_t *mappings, *functions, *locations, *labels;
	uint64_t *shifts; /* what is added to addresses of a mapping */
};

static uint32_t move_text(struct merge *merge, uint32_t text)
{
	size_t bytes;
	const char *from = ppi_pool_key(&merge->from->strings, text, &bytes);

	return ppi_profile_text(merge->into, from, bytes);
}

static bool move_mappings(struct merge *merge)
{
	const struct ppi_mapping *from = merge->from->mappings.data;

	for (size_t i = 0; i < merge->from->mappings.count; i++) {
		uint32_t number =
			ppi_profile_mapping(merge->into, &from[i], true);

		if (number == PPI_NONE)
			return false;
		merge->mappings[i] = number;
		merge->shifts[i] = PPI_AT(&merge->into->mappings,
		                          struct ppi_mapping)[number]
					   .shown.start -
				   from[i].shown.start;
	}
	return true;
}

static bool move_functions(struct merge *merge)
{
	const struct ppi_function *from = merge->from->functions.data;

	for (size_t i = 0; i < merge->from->functions.count; i++) {
		struct ppi_function function = {
			.name = move_text(merge, from[i].name),
			.system_name = move_text(merge, from[i].system_name),
			.filename = move_text(merge, from[i].filename),
			.start_line = from[i].start_line,
		};

		if (function.name == PPI_NONE ||
		    function.system_name == PPI_NONE ||
		    function.filename == PPI_NONE)
			return false;
		merge->functions[i] =
			ppi_profile_function(merge->into, &function);
		if (merge->functions[i] == PPI_NONE)
			return false;
	}
	return true;
}

static bool move_location(struct merge *merge, const struct ppi_location *from,
                          struct ppi_line *lines, uint32_t *number)
{
	uint64_t address = from->shown.address;
	uint32_t mapping = PPI_NONE;

	if (from->shown.mapping != SIZE_MAX) {
		mapping = merge->mappings[from->shown.mapping];
		address += merge->shifts[from->shown.mapping];
	}
	for (size_t i = 0; i < from->line_count; i++) {
		lines[i] = PPI_AT(&merge->from->lines,
		                  struct ppi_line)[from->first_line + i];
		lines[i].function = merge->functions[lines[i].function];
	}
	*number = ppi_profile_location(merge->into, mapping, address, lines,
	                               from->line_count, from->is_folded);
	return *number != PPI_NONE;
}

static bool move_locations(struct merge *merge)
{
	const struct ppi_location *from = merge->from->locations.data;
	struct ppi_line *lines;
	size_t most = 1;
	bool is_moved = true;

	for (size_t i = 0; i < merge->from->locations.count; i++)
		if (from[i].line_count > most)
			most = from[i].line_count;
	lines = malloc(most * sizeof(*lines));
	for (size_t i = 0; lines && is_moved &&
	                   i < merge->from->locations.count; i++)
		is_moved = move_location(merge, &from[i], lines,
		                         &merge->locations[i]);
	free(lines);
	return lines && is_moved;
}

static bool move_labels(struct merge *merge)
{
	size_t sets = ppi_pool_count(&merge->from->label_sets);
	struct ppi_vector moved = { NULL, 0, 0 };
	bool is_moved = true;

	for (size_t i = 0; i < sets && is_moved; i++) {
		size_t count;
		const struct ppi_label *from = ppi_profile_label_set(
			merge->from, (uint32_t)i, &count);

		moved.count = 0;
		is_moved = ppi_vector_add(&moved, sizeof(*from), from, count);
		for (size_t k = 0; k < moved.count; k++) {
			struct ppi_label *label =
				&PPI_AT(&moved, struct ppi_label)[k];

			label->key = move_text(merge, label->key);
			label->text = move_text(merge, label->text);
			label->unit = move_text(merge, label->unit);
			is_moved &= label->key != PPI_NONE &&
			            label->text != PPI_NONE &&
			            label->unit != PPI_NONE;
		}
		if (!is_moved)
			break;
		merge->labels[i] =
			ppi_profile_labels(merge->into, moved.data, count);
		is_moved = merge->labels[i] != PPI_NONE;
	}
	ppi_vector_free(&moved);
	return is_moved;
}

static bool move_samples(struct merge *merge)
{
	const struct ppi_sample *from = merge->from->samples.data;
	struct ppi_vector locations = { NULL, 0, 0 };
	bool is_moved = true;

	for (size_t i = 0; i < merge->from->samples.count && is_moved; i++) {
		portprof_profile_sample shown = from[i].shown;
		uint32_t *moved;

		locations.count = 0;
		is_moved = ppi_vector_add(&locations, sizeof(*moved),
		                          shown.locations, shown.depth);
		if (!is_moved)
			break;
		moved = locations.data;
		for (size_t k = 0; k < shown.depth; k++)
			moved[k] = merge->locations[moved[k]];
		shown.locations = moved;
		is_moved = ppi_profile_sample(merge->into, &shown,
		                              merge->labels[from[i].labels]);
	}
	ppi_vector_free(&locations);
	return is_moved;
}

static bool move_lists(struct merge *merge)
{
	const portprof_profile *from = merge->from;
	const portprof_profile_thread *threads = from->threads.data;
	const portprof_profile_origin *origin = &from->origin;

	for (size_t i = 0; i < from->threads.count; i++) {
		if (!ppi_profile_thread(merge->into, threads[i].pid,
		                        threads[i].tid, threads[i].name,
		                        false))
			return false;
		if (threads[i].pid == threads[i].tid)
			ppi_profile_owner(merge->into, threads[i].pid,
			                  threads[i].owner,
			                  threads[i].began_ns);
	}
	for (size_t i = 0; i < origin->note_count; i++)
		if (!ppi_profile_note(merge->into, origin->notes[i]))
			return false;
	for (size_t i = 0; i < origin->fact_count; i++)
		if (!ppi_profile_fact(merge->into, origin->facts[i]))
			return false;
	for (size_t i = 0; i < origin->passed_over_count; i++)
		if (!ppi_profile_passed_over(merge->into,
		                             origin->passed_over_names[i],
		                             origin->passed_over_reasons[i]))
			return false;
	for (size_t i = 0; i < from->comments.count; i++) {
		uint32_t text = move_text(
			merge, PPI_AT(&from->comments, uint32_t)[i]);

		if (text == PPI_NONE ||
		    !ppi_profile_comment(merge->into, text))
			return false;
	}
	return true;
}

static bool allocate(struct merge *merge)
{
	const portprof_profile *from = merge->from;

	/* one more each, so that none is empty */
	merge->mappings = calloc(from->mappings.count + 1, sizeof(uint32_t));
	merge->shifts = calloc(from->mappings.count + 1, sizeof(uint64_t));
	merge->functions = calloc(from->functions.count + 1, sizeof(uint32_t));
	merge->locations = calloc(from->locations.count + 1, sizeof(uint32_t));
	merge->labels = calloc(ppi_pool_count(&from->label_sets) + 1,
	                       sizeof(uint32_t));
	return merge->mappings && merge->shifts && merge->functions &&
	       merge->locations && merge->labels;
}

static portprof_status check_same(const portprof_profile *into,
                                  const portprof_profile *from)
{
	const struct ppi_type *a = into->types.data, *b = from->types.data;
	size_t count = into->types.count;

	if (into == from)
		return ppi_refuse(PORTPROF_E_INVALID, "merge profiles",
		                  "a profile cannot be merged into itself");
	if (count != from->types.count)
		return ppi_refuse(PORTPROF_E_INVALID, "merge profiles",
		                  "one profile has %zu kinds of value, the "
		                  "other %zu: merge profiles of the same "
		                  "events",
		                  count, from->types.count);
	for (size_t i = 0; i < count; i++) {
		const char *types[2] = { ppi_profile_string(into, a[i].type),
			                 ppi_profile_string(from, b[i].type) };
		const char *units[2] = { ppi_profile_string(into, a[i].unit),
			                 ppi_profile_string(from, b[i].unit) };

		if (strcmp(types[0], types[1]) != 0 ||
		    strcmp(units[0], units[1]) != 0 ||
		    a[i].event != b[i].event ||
		    a[i].is_samples != b[i].is_samples)
			return ppi_refuse(
				PORTPROF_E_INVALID, "merge profiles",
				"one profile has '%s' in %s, the other '%s' in "
				"%s: merge profiles of the same events",
				types[0], units[0], types[1], units[1]);
	}
	return PORTPROF_OK;
}

portprof_status portprof_profile_merge(portprof_profile *into,
                                       const portprof_profile *from)
{
	struct merge merge = { .into = into, .from = from };
	portprof_status status;
	bool is_merged;

	if (!into)
		return ppi_refuse_null("portprof_profile_merge", "into");
	if (!from)
		return ppi_refuse_null("portprof_profile_merge", "from");
	status = check_same(into, from);
	if (status != PORTPROF_OK)
		return status;
	is_merged = allocate(&merge) && move_mappings(&merge) &&
	            move_functions(&merge) && move_locations(&merge) &&
	            move_labels(&merge) && move_samples(&merge) &&
	            move_lists(&merge) && ppi_profile_merge_account(into, from);
	free(merge.mappings);
	free(merge.shifts);
	free(merge.functions);
	free(merge.locations);
	free(merge.labels);
	if (is_merged)
		return PORTPROF_OK;
	return ppi_refuse(PORTPROF_E_NOMEM, "merge profiles",
	                  "out of memory: the first profile has only a part "
	                  "of the second");
}
