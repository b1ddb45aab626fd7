/* SPDX-License-Identifier: MIT */
/* What a report calls things: its rows' keys, and the code of a profile. */
#include "config.h"

#include "tools/view/rows.h"

#include "tools/view/advice.h"
#include "tools/view/chains.h"
#include "tools/view/pairs.h"
#include "tools/view/ticker.h"

#include <stdlib.h>
#include <string.h>

/* Functions of a location; a deeper one is cut. */
enum { GIVEN_MAX = 64 };

#define PPI_LABEL_KEY "label:"

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

/* Of one label, since a row has one column for it. */
static bool is_label(const char *word, size_t length, const char *known)
{
	size_t prefix = strlen(PPI_LABEL_KEY);

	return length > prefix && !known &&
	       strncmp(word, PPI_LABEL_KEY, prefix) == 0;
}

unsigned ppi_rows_keys(const char *text, const char **label,
                       const char **unknown)
{
	unsigned keys = 0;

	*label = NULL;

	while (*text) {
		size_t length = strcspn(text, ","), i = 0;
		size_t count = sizeof(words) / sizeof(words[0]);

		while (i < count && (strlen(words[i].word) != length ||
		                     strncmp(words[i].word, text, length) != 0))
			i++;
		if (i < count) {
			keys |= words[i].bits;
		} else if (is_label(text, length, *label)) {
			*label = text + strlen(PPI_LABEL_KEY);
			keys |= PPI_BY_LABEL;
		} else {
			*unknown = text;
			return 0;
		}
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

/* For each location that lies in no file, the processes that ran it. */
struct makers {
	bool *is_made;   /* by location */
	uint32_t *first; /* by location; one more behind */
	uint32_t *pids;
	/* what the last process asked for needs: threads may be many */
	uint32_t advised;
	const char *advice;
};

static void free_makers(struct makers *makers)
{
	free(makers->is_made);
	free(makers->first);
	free(makers->pids);
}

/* The pairs of location and process in the samples. */
static bool find_pairs(const portprof_profile *profile, const bool *is_made,
                       struct ppi_pairs *pairs)
{
	const portprof_profile_sample *sample;

	for (size_t i = 0;
	     (sample = portprof_profile_sample_get(profile, i)) != NULL; i++)
		for (size_t j = 0; sample->pid && j < sample->depth; j++)
			if (is_made[sample->locations[j]] &&
			    ppi_pairs_enter(pairs, sample->locations[j],
			                    sample->pid) == PPI_NO_PAIR)
				return false;
	return true;
}

/* Put the pairs in the order of their locations. */
static bool sort_pairs(const struct ppi_pairs *pairs, size_t count,
                       struct makers *makers)
{
	makers->first = calloc(count + 2, sizeof(*makers->first));
	makers->pids = calloc(pairs->count + 1u, sizeof(*makers->pids));
	if (!makers->first || !makers->pids)
		return false;
	for (uint32_t i = 0; i < pairs->count; i++)
		makers->first[(pairs->pairs[i] >> 32) + 2]++;
	for (size_t i = 2; i < count + 2; i++)
		makers->first[i] += makers->first[i - 1];
	/* [i + 1] goes from where location i begins to where it ends */
	for (uint32_t i = 0; i < pairs->count; i++) {
		uint32_t at = makers->first[(pairs->pairs[i] >> 32) + 1]++;

		makers->pids[at] = (uint32_t)pairs->pairs[i];
	}
	return true;
}

static bool find_makers(const portprof_profile *profile, struct makers *makers)
{
	size_t count = portprof_profile_location_count(profile), made = 0;
	struct ppi_pairs pairs = { 0 };
	bool is_good;

	makers->is_made = calloc(count + 1, sizeof(*makers->is_made));
	if (!makers->is_made)
		return false;
	for (size_t i = 0; i < count; i++) {
		struct ppi_symbols_place place;

		place_of(profile, portprof_profile_location_get(profile, i),
		         &place);
		makers->is_made[i] = ppi_symbols_is_made(&place);
		made += makers->is_made[i];
	}
	is_good = (made == 0 || find_pairs(profile, makers->is_made, &pairs)) &&
	          sort_pairs(&pairs, count, makers);
	ppi_pairs_free(&pairs);
	return is_good;
}

/* What the file itself says, with what it was inlined into. */
static size_t lines_of(const portprof_profile *profile, size_t index,
                       struct ppi_symbols_given given[GIVEN_MAX])
{
	const portprof_profile_location *location =
		portprof_profile_location_get(profile, index);
	size_t count = portprof_profile_line_count(profile, index);

	given[0] = (struct ppi_symbols_given){ location->function,
		                               location->source_file,
		                               location->line };
	if (count > GIVEN_MAX)
		count = GIVEN_MAX;
	for (size_t i = 1; i < count; i++) {
		const portprof_profile_line *line =
			portprof_profile_line_get(profile, index, i);

		given[i] = (struct ppi_symbols_given){ line->function,
			                               line->source_file,
			                               line->line };
	}
	return count ? count : 1;
}

/* Files that portprof named have inlined functions always; who did not ask
 * for them sees the function that they were inlined into, at the line where
 * the address is. The writers of other files are believed as they are. */
static size_t leave_inlined(struct ppi_symbols_given *given, size_t count)
{
	given[0].function = given[count - 1].function;
	return 1;
}

/* What the file cannot say: names of code that had none, lines where there
 * were none, and which code keeps frame pointers. */
static void find_more(struct ppi_symbols *symbols,
                      const struct ppi_symbols_place *place,
                      struct ppi_symbols_name *name)
{
	struct ppi_symbols_name found;
	bool is_wanted = ppi_symbols_wants_lines(symbols) && !name->line;

	if (name->is_named && !is_wanted && !ppi_symbols_wants_frames(symbols))
		return;
	ppi_symbols_hush(symbols, name->is_named);
	ppi_symbols_find(symbols, place, &found);
	ppi_symbols_hush(symbols, false);
	if (found.is_named && (!name->is_named || (is_wanted && found.line))) {
		*name = found;
		return;
	}
	name->is_stripped = found.is_stripped;
	name->frame_at = found.frame_at;
	name->frame_before = found.frame_before;
	name->keeps_leaf_frames = found.keeps_leaf_frames;
}

static void take_given(const portprof_profile *profile, size_t index,
                       struct ppi_symbols *symbols,
                       const struct ppi_symbols_place *place,
                       struct ppi_symbols_name *name)
{
	struct ppi_symbols_given given[GIVEN_MAX];
	size_t count = lines_of(profile, index, given);
	bool is_ours = portprof_profile_origin_get(profile)->backend[0];

	if (is_ours && !ppi_symbols_wants_inlines(symbols))
		count = leave_inlined(given, count);
	ppi_symbols_take(symbols, place, given, count, name);
	if (is_ours)
		find_more(symbols, place, name);
}

static const char *advice_for(const portprof_profile *profile, uint32_t pid,
                              struct makers *makers)
{
	if (!makers->advice || makers->advised != pid)
		makers->advice = ppi_runtime_advice(profile, pid);
	makers->advised = pid;
	return makers->advice;
}

static void name_location(const portprof_profile *profile, size_t index,
                          struct makers *makers,
                          struct ppi_symbols *symbols,
                          struct ppi_symbols_name *name)
{
	const portprof_profile_location *location =
		portprof_profile_location_get(profile, index);
	struct ppi_symbols_place place;

	place_of(profile, location, &place);
	place.pids = makers->pids + makers->first[index];
	place.pid_count = makers->first[index + 1] - makers->first[index];
	if (location->function[0])
		take_given(profile, index, symbols, &place, name);
	else
		ppi_symbols_find(symbols, &place, name);
	/* every 64-bit Unix keeps its kernel in the upper half */
	name->is_kernel = location->address >> 63;
	name->is_first = ppi_chain_may_begin(name);
	/* what a register held that was no frame pointer; files that name
	 * their code themselves, or that others wrote, are believed */
	name->is_nonsense =
		!place.has_mapping && !name->is_kernel &&
		!location->function[0] &&
		portprof_profile_origin_get(profile)->backend[0];
	if (!name->is_named && place.has_mapping && makers->is_made[index]) {
		ppi_symbols_gather(symbols, &place, name);
		name->advice = advice_for(
			profile, place.pid_count ? place.pids[0] : 0, makers);
	}
}

static void tell_processes(const portprof_profile *profile,
                           struct ppi_symbols *symbols)
{
	const portprof_profile_origin *origin =
		portprof_profile_origin_get(profile);
	const portprof_profile_thread *thread;

	if (origin->start_ns && origin->duration_ns)
		ppi_symbols_know_end(symbols,
		                     origin->start_ns + origin->duration_ns);
	for (size_t i = 0;
	     (thread = portprof_profile_thread_get(profile, i)) != NULL; i++)
		if (thread->owner >= 0)
			ppi_symbols_know_process(symbols, thread->pid,
			                         thread->owner,
			                         thread->began_ns);
}

struct ppi_symbols_name *ppi_name_locations(const portprof_profile *profile,
                                            struct ppi_symbols *symbols)
{
	size_t count = portprof_profile_location_count(profile);
	struct ppi_symbols_name *names = calloc(count + 1, sizeof(*names));
	struct makers makers = { 0 };

	if (!names || !find_makers(profile, &makers)) {
		free(names);
		free_makers(&makers);
		return NULL;
	}
	tell_processes(profile, symbols);
	atomic_store(&ppi_ticker_all, count);
	for (size_t i = 0; i < count; i++) {
		name_location(profile, i, &makers, symbols, &names[i]);
		atomic_store(&ppi_ticker_done, i + 1);
	}
	free_makers(&makers);
	return names;
}
