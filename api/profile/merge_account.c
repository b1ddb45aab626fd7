/* SPDX-License-Identifier: MIT */
/* The accounts of two profiles as one. Whatever order profiles are merged in,
 * the account of them all is the same but for the order of words. */
#include "api/profile/model.h"
#include "base/arithmetic.h"

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

bool ppi_profile_merge_account(portprof_profile *into,
                               const portprof_profile *from)
{
	portprof_profile_origin *to = &into->origin;
	const portprof_profile_origin *other = &from->origin;

	merge_events(into, from);
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
