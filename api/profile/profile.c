/* SPDX-License-Identifier: MIT */
/*
 * What callers see of a profile, and the parts of it that are lists. The files
 * of this folder:
 *
 * a profile in memory
 *   profile.c        life, lists, getters
 *   profile_edit.c   naming code, hiding what others should not see
 *   profile_merge.c  two profiles into one; what a whole run took
 *   model.c          how things get into it, for readers of all formats
 *   memory.c         arenas, pools of byte strings, bounds of what is read
 *   image.c          the files of mappings: paths, headers of ELF
 *   pprof/           its own file; import/ those of other tools; gmon/ gmon.out
 *   file_stub.c      instead of pprof/ in a build without protobuf-c
 *
 * while measuring (writer.h)
 *   locations.c      where samples fall: mappings, address spaces, callers
 *   threads.c        names of threads
 *   sample_table.c   samples of one portion, added up
 *   sample_labels.c  what hardware and events report of them, as labels
 *   label_texts.c    the program's own labels
 *   atomic_file.c    files that take their place when they are whole
 */
#include <portprof/profile.h>
#include <portprof/tool.h>

#include "api/profile/model.h"
#include "api/profile/sample_table.h"

/* ---- its end ---- */

static void free_pools(portprof_profile *profile)
{
	ppi_pool_free(&profile->strings);
	ppi_pool_free(&profile->mapping_keys);
	ppi_pool_free(&profile->mapping_contents);
	ppi_pool_free(&profile->function_keys);
	ppi_pool_free(&profile->location_keys);
	ppi_pool_free(&profile->label_sets);
	ppi_pool_free(&profile->sample_keys);
	ppi_pool_free(&profile->thread_keys);
}

static void free_vectors(portprof_profile *profile)
{
	ppi_vector_free(&profile->types);
	ppi_vector_free(&profile->events);
	ppi_vector_free(&profile->comments);
	ppi_vector_free(&profile->mappings);
	ppi_vector_free(&profile->content_mappings);
	ppi_vector_free(&profile->functions);
	ppi_vector_free(&profile->locations);
	ppi_vector_free(&profile->lines);
	ppi_vector_free(&profile->shown_lines);
	ppi_vector_free(&profile->samples);
	ppi_vector_free(&profile->threads);
	ppi_vector_free(&profile->passed_names);
	ppi_vector_free(&profile->passed_reasons);
	ppi_vector_free(&profile->notes);
	ppi_vector_free(&profile->facts);
}

void portprof_profile_free(portprof_profile *profile)
{
	if (!profile)
		return;
	free_pools(profile);
	free_vectors(profile);
	ppi_arena_free(&profile->arena);
	free(profile->damage);
	free(profile);
}

/* ---- lists of texts ---- */

static bool add_text(portprof_profile *profile, struct ppi_vector *list,
                     const char *text)
{
	const char *kept = ppi_profile_keep(profile, text);

	return kept && ppi_vector_add(list, sizeof(kept), &kept, 1);
}

/* Each once. */
static bool add_new_text(portprof_profile *profile, struct ppi_vector *list,
                         const char *text)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(PPI_AT(list, const char *)[i], text) == 0)
			return true;
	return add_text(profile, list, text);
}

bool ppi_profile_fact(portprof_profile *profile, const char *words)
{
	if (!add_new_text(profile, &profile->facts, words))
		return false;
	profile->origin.facts = profile->facts.data;
	profile->origin.fact_count = profile->facts.count;
	return true;
}

bool ppi_profile_note(portprof_profile *profile, const char *words)
{
	if (!add_new_text(profile, &profile->notes, words))
		return false;
	profile->origin.notes = profile->notes.data;
	profile->origin.note_count = profile->notes.count;
	return true;
}

bool ppi_profile_passed_over(portprof_profile *profile, const char *name,
                             const char *reason)
{
	struct ppi_vector *names = &profile->passed_names;
	struct ppi_vector *reasons = &profile->passed_reasons;

	for (size_t i = 0; i < names->count; i++)
		if (strcmp(PPI_AT(names, const char *)[i], name) == 0 &&
		    strcmp(PPI_AT(reasons, const char *)[i], reason) == 0)
			return true;
	if (!ppi_vector_reserve(names, sizeof(name), 1) ||
	    !add_text(profile, reasons, reason))
		return false;
	if (!add_text(profile, names, name)) {
		reasons->count--;
		return false;
	}
	profile->origin.passed_over_names = names->data;
	profile->origin.passed_over_reasons = reasons->data;
	profile->origin.passed_over_count = names->count;
	return true;
}

bool ppi_profile_comment(portprof_profile *profile, uint32_t text)
{
	for (size_t i = 0; i < profile->comments.count; i++)
		if (PPI_AT(&profile->comments, uint32_t)[i] == text)
			return true;
	return ppi_vector_add(&profile->comments, sizeof(text), &text, 1);
}

/* ---- getters ---- */

const portprof_profile_origin *
portprof_profile_origin_get(const portprof_profile *profile)
{
	return profile ? &profile->origin : NULL;
}

/* The element of a list; NULL for none such, and when there is no profile. */
#define ELEMENT(profile, list, type, index)                                   \
	((profile) && (index) < (profile)->list.count                         \
	         ? (const void *)(PPI_AT(&(profile)->list, type) + (index))   \
	         : NULL)

size_t portprof_profile_event_count(const portprof_profile *profile)
{
	return profile ? profile->events.count : 0;
}

/* `shown` is the first member of what is stored, here and below. */
const portprof_profile_event *
portprof_profile_event_get(const portprof_profile *profile, size_t index)
{
	return ELEMENT(profile, events, struct ppi_profile_event, index);
}

size_t portprof_profile_mapping_count(const portprof_profile *profile)
{
	return profile ? profile->mappings.count : 0;
}

const portprof_profile_mapping *
portprof_profile_mapping_get(const portprof_profile *profile, size_t index)
{
	return ELEMENT(profile, mappings, struct ppi_mapping, index);
}

size_t portprof_profile_location_count(const portprof_profile *profile)
{
	return profile ? profile->locations.count : 0;
}

const portprof_profile_location *
portprof_profile_location_get(const portprof_profile *profile, size_t index)
{
	return ELEMENT(profile, locations, struct ppi_location, index);
}

static const struct ppi_location *
location_of(const portprof_profile *profile, size_t index)
{
	return ELEMENT(profile, locations, struct ppi_location, index);
}

size_t portprof_profile_line_count(const portprof_profile *profile,
                                   size_t location)
{
	const struct ppi_location *of = location_of(profile, location);

	return of ? of->line_count : 0;
}

const portprof_profile_line *
portprof_profile_line_get(const portprof_profile *profile, size_t location,
                          size_t index)
{
	const struct ppi_location *of = location_of(profile, location);

	if (!of || index >= of->line_count)
		return NULL;
	return PPI_AT(&profile->shown_lines, portprof_profile_line) +
	       of->first_line + index;
}

size_t portprof_profile_sample_count(const portprof_profile *profile)
{
	return profile ? profile->samples.count : 0;
}

const portprof_profile_sample *
portprof_profile_sample_get(const portprof_profile *profile, size_t index)
{
	return ELEMENT(profile, samples, struct ppi_sample, index);
}

uint64_t portprof_profile_sample_time(const portprof_profile *profile,
                                      size_t index)
{
	const struct ppi_sample *sample =
		ELEMENT(profile, samples, struct ppi_sample, index);
	const struct ppi_label *labels;
	size_t count;

	if (!sample || !profile->origin.timeline_ns)
		return 0;
	labels = ppi_profile_label_set(profile, sample->labels, &count);
	for (size_t i = 0; i < count; i++)
		if (labels[i].number > 0 &&
		    (uint64_t)labels[i].number < UINT64_MAX / 1000000u &&
		    strcmp(ppi_profile_string(profile, labels[i].key),
		           PPI_TIME_LABEL) == 0 &&
		    strcmp(ppi_profile_string(profile, labels[i].unit),
		           PPI_TIME_UNIT) == 0)
			return (uint64_t)labels[i].number * 1000000u;
	return 0;
}

bool portprof_profile_label_get(const portprof_profile *profile,
                                const portprof_profile_sample *sample,
                                size_t index, portprof_profile_label *label)
{
	const struct ppi_label *labels;
	size_t count;

	if (!profile || !sample || !label)
		return false;
	/* what is shown of a sample is its beginning */
	labels = ppi_profile_label_set(
		profile, ((const struct ppi_sample *)sample)->labels, &count);
	if (index >= count)
		return false;
	*label = (portprof_profile_label){
		ppi_profile_string(profile, labels[index].key),
		ppi_profile_string(profile, labels[index].text),
		ppi_profile_string(profile, labels[index].unit),
		labels[index].number
	};
	return true;
}

size_t portprof_profile_thread_count(const portprof_profile *profile)
{
	return profile ? profile->threads.count : 0;
}

const portprof_profile_thread *
portprof_profile_thread_get(const portprof_profile *profile, size_t index)
{
	return ELEMENT(profile, threads, portprof_profile_thread, index);
}
