/* SPDX-License-Identifier: MIT */
/* The total of an event, and its parts that are in no row. */
#include "config.h"

#include "tools/report/report.h"

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
	report->outside = 0;
	report->idle = 0;
	report->total = rows_weight;
	if (report->what->has_stats) {
		report->outside = report->what->stats.outside_weight;
		report->total = report->what->stats.total_weight;
		report->idle = report->what->stats.idle_time_ns;
		is_estimate = report->what->stats.standard_error > 0;
	}
	known = rows_weight + report->outside;
	/* what has a standard error may be more than what it estimates */
	if (report->total < known && !is_estimate)
		report->total = known;
	report->unattributed = report->total > known ? report->total - known
	                                             : 0;
	report->excess = known > report->total ? known - report->total : 0;
}
