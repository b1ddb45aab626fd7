/* SPDX-License-Identifier: MIT */
/* What a whole run took, put into the account that the parts of its processes
 * were merged into. */
#include "api/profile/model.h"
#include "api/core/diag.h"
#include "base/text.h"

/*
 * As api/core/session_query.c has it for a session: the parts' own totals, and what is
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
