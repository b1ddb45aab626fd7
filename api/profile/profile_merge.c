/* SPDX-License-Identifier: MIT */
/* Two profiles of the same events into one; and what the run of all their
 * processes took, where somebody has measured that. */
#include <portprof/profile.h>

#include "api/common/diag.h"
#include "api/profile/model.h"
#include "base/text.h"
#include "base/arithmetic.h"

/* ---- the account ---- */

/* Whatever order profiles are merged in,
 * the account of them all is the same but for the order of words. */

/* What both agree on, else 0: unknown. */
#define AGREE(a, b) ((a) == (b) ? (a) : 0)

static double achieved(const portprof_stats *a, const portprof_stats *b)
{
	double time = (double)a->cpu_time_ns + (double)b->cpu_time_ns;

	if (time <= 0)
		return AGREE(a->achieved_hz, b->achieved_hz);
	return (a->achieved_hz * (double)a->cpu_time_ns +
	        b->achieved_hz * (double)b->cpu_time_ns) /
	       time;
}

/* What one has too little and the other too much is neither of both. */
static void balance(portprof_stats *stats)
{
	uint64_t both = stats->excess_weight < stats->unattributed_weight
	                        ? stats->excess_weight
	                        : stats->unattributed_weight;

	stats->excess_weight -= both;
	stats->unattributed_weight -= both;
	if (stats->not_attached_weight > stats->unattributed_weight)
		stats->not_attached_weight = stats->unattributed_weight;
}

static void add_stats(portprof_stats *into, const portprof_stats *from)
{
	into->achieved_hz = achieved(into, from);
#define SUM(field) into->field = ppi_add(into->field, from->field)
	SUM(delivered_samples);
	SUM(kept_samples);
	SUM(outside_samples);
	SUM(lost_samples);
	SUM(total_weight);
	SUM(kept_weight);
	SUM(outside_weight);
	SUM(unattributed_weight);
	SUM(excess_weight);
	SUM(idle_time_ns);
	SUM(not_attached_weight);
	SUM(throttled);
	SUM(cpu_time_ns);
	SUM(own_cost_ns);
#undef SUM
	balance(into);
	into->standard_error = ppi_square_root(
		(double)into->standard_error * (double)into->standard_error +
		(double)from->standard_error * (double)from->standard_error);
	if (from->lost_certainty < into->lost_certainty)
		into->lost_certainty = from->lost_certainty;
	if (from->unattributed_certainty < into->unattributed_certainty)
		into->unattributed_certainty = from->unattributed_certainty;
	into->requested_hz = AGREE(into->requested_hz, from->requested_hz);
	into->granted_hz = AGREE(into->granted_hz, from->granted_hz);
	into->requested_period =
		AGREE(into->requested_period, from->requested_period);
	into->granted_period =
		AGREE(into->granted_period, from->granted_period);
}

static void add_life(portprof_life *into, const portprof_life *from)
{
	into->threads = ppi_add(into->threads, from->threads);
	into->running_ns = ppi_add(into->running_ns, from->running_ns);
	into->ready_ns = ppi_add(into->ready_ns, from->ready_ns);
	into->blocked_ns = ppi_add(into->blocked_ns, from->blocked_ns);
	into->unknown_ns = ppi_add(into->unknown_ns, from->unknown_ns);
	into->lifetime_ns = ppi_add(into->lifetime_ns, from->lifetime_ns);
}

static void merge_events(portprof_profile *into, const portprof_profile *from)
{
	for (size_t i = 0; i < into->events.count; i++) {
		portprof_profile_event *to =
			&PPI_AT(&into->events, struct ppi_profile_event)[i]
				 .shown;
		const portprof_profile_event *other =
			&PPI_AT(&from->events, struct ppi_profile_event)[i]
				 .shown;

		if (to->has_stats && other->has_stats) {
			add_stats(&to->stats, &other->stats);
		} else {
			to->has_stats = 0;
			memset(&to->stats, 0, sizeof(to->stats));
		}
	}
}

static bool has_word(const char *list, const char *word, size_t length)
{
	for (const char *at = list; *at;) {
		size_t own = strcspn(at, ",");

		if (own == length && strncmp(at, word, length) == 0)
			return true;
		at += own;
		at += strspn(at, ", ");
	}
	return false;
}

/* "perf" and "timer, perf" are "perf, timer". */
static const char *join(portprof_profile *profile, const char *list,
                        const char *more)
{
	struct ppi_vector text = { NULL, 0, 0 };
	bool is_made = ppi_vector_add(&text, 1, list, strlen(list));
	const char *joined = NULL;

	for (const char *at = more; is_made && *at;) {
		size_t length = strcspn(at, ",");

		if (!has_word(list, at, length))
			is_made = ppi_vector_add(&text, 1, ", ",
			                         text.count ? 2 : 0) &&
			          ppi_vector_add(&text, 1, at, length);
		at += length;
		at += strspn(at, ", ");
	}
	if (is_made && ppi_vector_add(&text, 1, NULL, 1))
		joined = ppi_profile_keep(profile, text.data);
	ppi_vector_free(&text);
	return joined;
}

/* The accounts of both, in `into`; false without memory. */
static bool merge_account(portprof_profile *into,
                          const portprof_profile *from)
{
	portprof_profile_origin *to = &into->origin;
	const portprof_profile_origin *other = &from->origin;

	merge_events(into, from);
	add_life(&into->origin.life, &from->origin.life);
	into->has_account |= from->has_account;
	to->is_complete &= other->is_complete;
	if (other->start_ns &&
	    (!to->start_ns || other->start_ns < to->start_ns))
		to->start_ns = other->start_ns;
	to->duration_ns = ppi_add(to->duration_ns, other->duration_ns);
	to->backend = join(into, to->backend, other->backend);
	if (!to->backend) {
		to->backend = "";
		return false;
	}
	if (other->timeline_ns > to->timeline_ns)
		to->timeline_ns = other->timeline_ns;
	/* chains of frame pointers among them: doubt them all */
	if (to->chain_depth == 0 ||
	    (other->chain_depth && other->stack_bytes < to->stack_bytes))
		to->stack_bytes = other->stack_bytes;
	if (other->chain_depth > to->chain_depth)
		to->chain_depth = other->chain_depth;
	if (!to->command[0])
		to->command = ppi_profile_keep(into, other->command);
	if (!to->command) {
		to->command = "";
		return false;
	}
	if (from->damage && !into->damage) {
		into->damage = strdup(from->damage);
		into->origin.damage = into->damage;
		return into->damage != NULL;
	}
	return true;
}

/* ---- all else ---- */

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
	            move_lists(&merge) && merge_account(into, from);
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

/* ---- what a whole run took ---- */

/* What a whole run took, put into the account that the parts of its processes
 * were merged into. */

/*
 * As api/core/account.c has it for a session: the parts' own totals, and what is
 * missing in them to the time told, is the total.
 */
static void add_missing(portprof_stats *stats, uint64_t cpu_time_ns)
{
	uint64_t attributed = ppi_add(stats->kept_weight,
	                              stats->outside_weight);
	uint64_t own = stats->total_weight > stats->not_attached_weight
	                       ? stats->total_weight -
	                                 stats->not_attached_weight
	                       : 0;

	if (cpu_time_ns > own) {
		stats->not_attached_weight = cpu_time_ns - own;
		stats->total_weight = cpu_time_ns;
	}
	if (stats->total_weight < attributed && !stats->standard_error)
		stats->total_weight = attributed;
	stats->unattributed_weight = stats->total_weight > attributed
	                                     ? stats->total_weight - attributed
	                                     : 0;
	stats->excess_weight = stats->total_weight < attributed
	                               ? attributed - stats->total_weight
	                               : 0;
	if (stats->not_attached_weight > stats->unattributed_weight)
		stats->not_attached_weight = stats->unattributed_weight;
}

static void set_cpu_time(portprof_profile *profile, uint64_t cpu_time_ns)
{
	for (size_t i = 0; i < profile->events.count; i++) {
		struct ppi_profile_event *event =
			&PPI_AT(&profile->events, struct ppi_profile_event)[i];
		portprof_stats *stats = &event->shown.stats;

		if (!event->shown.has_stats)
			continue;
		stats->cpu_time_ns = cpu_time_ns;
		stats->achieved_hz = (double)stats->delivered_samples * 1e9 /
				     (double)cpu_time_ns;
		if (event->is_cpu_time)
			add_missing(stats, cpu_time_ns);
	}
	profile->origin.is_complete = 1;
}

portprof_status portprof_profile_set_times(portprof_profile *profile,
                                           uint64_t cpu_time_ns,
                                           uint64_t duration_ns)
{
	if (!profile)
		return ppi_refuse_null("portprof_profile_set_times", "profile");
	if (cpu_time_ns)
		set_cpu_time(profile, cpu_time_ns);
	if (duration_ns)
		profile->origin.duration_ns = duration_ns;
	return PORTPROF_OK;
}
