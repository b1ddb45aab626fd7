/* SPDX-License-Identifier: MIT */
/* An event's sums, and the parts that are in no row. */
#include "config.h"

#include "tools/view/account.h"

/*
 * A whole file of ours has the account that fits its samples. One that was
 * cut has the account of its last portion, so the samples may say more; one
 * of another writer has none, and its samples are all that there is.
 */
void ppi_report_sum(struct ppi_report *report, uint64_t rows_weight)
{
	bool is_estimate = false;
	uint64_t known;

	report->what = portprof_profile_event_get(report->profile,
	                                          report->event);
	if (report->subject && report->subject->weights)
		report->what = &report->subject->joined;
	ppi_life_find(report->profile, &report->life);
	if (report->subject && report->subject->runs)
		ppi_life_divide(&report->life, report->subject->runs);
	report->outside = 0;
	report->idle = 0;
	report->total = rows_weight;
	if (report->what->has_stats) {
		report->outside = report->what->stats.outside_weight;
		report->total = report->what->stats.total_weight;
		report->total -= report->idle_waits < report->total
		                         ? report->idle_waits : report->total;
		report->idle = report->what->stats.idle_time_ns;
		is_estimate = report->what->stats.standard_error > 0;
	}
	report->unknown = 0;
	if (report->subject && report->subject->is_joined &&
	    report->subject->states == (1u << PPI_STATES) - 1)
		report->unknown = report->life.sums.unknown_ns;
	report->total += report->unknown;
	known = rows_weight + report->outside + report->unknown;
	/* what has a standard error may be more than what it estimates */
	if (report->total < known && !is_estimate)
		report->total = known;
	report->unattributed = report->total > known ? report->total - known
	                                             : 0;
	report->excess = known > report->total ? known - report->total : 0;
	report->is_filtered = false;
	/* an estimate that is too high by chance is no more than all */
	report->shown = ppi_report_noise(report) ? known : report->total;
}

void ppi_report_filter(struct ppi_report *report, uint64_t shown,
                       uint64_t left_out)
{
	report->is_filtered = true;
	report->shown = shown;
	report->left_out = left_out;
}

/* Twice the error: 19 of 20 are nearer by chance. */
bool ppi_gap_is_noise(const portprof_stats *stats, uint64_t gap)
{
	return stats->standard_error && gap / 2 <= stats->standard_error;
}

bool ppi_report_noise(const struct ppi_report *report)
{
	uint64_t gap = report->excess ? report->excess : report->unattributed;

	return report->what->has_stats &&
	       ppi_gap_is_noise(&report->what->stats, gap);
}
