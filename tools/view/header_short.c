/* SPDX-License-Identifier: MIT */
/* The account in four lines, for who wants to see the rows, and what is wrong. */
#include "config.h"

#include "tools/view/header.h"

#include "base/text.h"
#include "tools/tools.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* "2026-11-26 05:51:06 +0000, for 104.3 ms, on web1" */
static void print_short_when(const portprof_profile_origin *origin, FILE *out)
{
	time_t seconds = (time_t)(origin->start_ns / 1000000000u);
	const char *before = "", *host;
	struct tm local;
	char text[64];

	if (!origin->start_ns && !origin->duration_ns)
		return;
	fprintf(out, PPI_HEAD_LABEL, "when");
	if (origin->start_ns && localtime_r(&seconds, &local) &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %z", &local)) {
		fputs(text, out);
		before = ", ";
	}
	if (origin->duration_ns)
		fprintf(out, "%sfor %s", before,
		        ppi_head_time(origin->duration_ns, text, sizeof(text)));
	for (size_t i = 0; i < origin->fact_count; i++) {
		host = ppi_head_behind(origin->facts[i], "host: ");
		if (!host)
			continue;
		fputs(", on ", out);
		ppi_put_text(host, out);
		break;
	}
	fputc('\n', out);
}

/* "997.5 Hz", with what was asked where the kernel gave less. */
static void print_short_rate(const portprof_stats *stats, portprof_unit unit,
                             FILE *out)
{
	double hz = stats->cpu_time_ns ? stats->achieved_hz : stats->granted_hz;
	char text[32];

	if (stats->requested_period)
		fprintf(out, ", one every %" PRIu64 "%s",
		        stats->requested_period,
		        unit == PORTPROF_UNIT_NANOSECONDS ? " ns" : "");
	else if (hz > 0)
		fprintf(out, " at %s Hz", ppi_head_hz(hz, text, sizeof(text)));
	if (stats->granted_hz > 0 &&
	    stats->granted_hz < stats->requested_hz * 0.99)
		fprintf(out, " (%s asked)", ppi_head_hz(stats->requested_hz, text,
		                                   sizeof(text)));
}

static void print_short_total(const struct ppi_report *report, FILE *out)
{
	const portprof_profile_event *event = report->what;
	const portprof_stats *stats = &event->stats;
	const char *backend =
		portprof_profile_origin_get(report->profile)->backend;
	struct ppi_scale scale = ppi_scale_of(event->unit, report->total);
	bool is_other =
		event->asked[0] && !ppi_head_begins(event->asked, event->name);
	char text[64], name[256], *rate;

	fprintf(out, PPI_HEAD_LABEL "%s of ", "total",
	        ppi_say_weight(scale, report->total, text, sizeof(text)));
	snprintf(name, sizeof(name), "%s", event->name);
	if (event->has_stats && (rate = strstr(name, ":freq=")) != NULL)
		*rate = '\0'; /* it follows, as it was met */
	ppi_put_text(name, out);
	if (is_other) {
		fputs(" (asked as ", out);
		ppi_put_text(event->asked, out);
		fputc(')', out);
	}
	if (event->has_stats) {
		fprintf(out, " in %" PRIu64 " samples", stats->kept_samples);
		if (!ppi_head_has_waits(report))
			print_short_rate(stats, event->unit, out);
	}
	if (backend[0])
		fprintf(out, ", by %s", backend);
	if (report->idle)
		fprintf(out, "; the CPUs were idle for %s",
		        ppi_head_time(report->idle, text, sizeof(text)));
	fputc('\n', out);
}

/* "0 ± 3.1 ms unattributed": what chance and estimates explain is none. */
static void print_short_gap(const struct ppi_report *report, FILE *out)
{
	struct ppi_scale scale =
		ppi_scale_of(report->what->unit, report->total);
	uint64_t gap = report->excess ? report->excess : report->unattributed;
	char text[64], share[32];

	if (!report->what->has_stats) {
		fputs("the file does not say how much is missing", out);
		return;
	}
	if (ppi_report_noise(report)) {
		fprintf(out, "0 ± %s unattributed",
		        ppi_say_weight(scale,
		                       report->what->stats.standard_error,
		                       text, sizeof(text)));
		return;
	}
	ppi_say_weight(scale, gap, text, sizeof(text));
	snprintf(share, sizeof(share), "%.1f", ppi_percent(gap, report->total));
	fprintf(out, "%s%s unattributed (%s%s %%)",
	        report->excess ? ppi_minus(text) : "", text,
	        report->excess ? ppi_minus(share) : "", share);
}

static void print_short_trust(const struct ppi_report *report, FILE *out)
{
	const portprof_stats *stats = &report->what->stats;
	const struct ppi_chains *chains = &report->chains;
	uint64_t bad = chains->ending + chains->skipping + chains->cut +
	               chains->leaving;
	double low, high;

	fprintf(out, PPI_HEAD_LABEL, "trust");
	print_short_gap(report, out);
	if (report->what->has_stats)
		fprintf(out, ", %" PRIu64 " lost%s",
		        stats->lost_samples,
		        stats->lost_certainty == PORTPROF_EXACT ? ""
		                                                : " or more");
	if (chains->weight)
		fprintf(out, ", callers complete for %.1f %%",
		        ppi_percent(chains->weight - bad, chains->weight));
	fputc('\n', out);
	/* waits are measured whole, however few samples they have */
	if (report->what->has_stats && stats->kept_samples &&
	    stats->kept_samples < PPI_FEW_SAMPLES && !ppi_head_has_waits(report)) {
		ppi_share_range(0.1, stats->kept_samples, &low, &high);
		fprintf(out, PPI_HEAD_LABEL "%" PRIu64 " samples: a share of 10 %% "
		        "is %.0f to %.0f %% (95 %%); -F takes more\n", "",
		        stats->kept_samples, 100 * low, 100 * high);
	}
	if (stats->throttled)
		fprintf(out, PPI_HEAD_LABEL "the kernel throttled sampling %" PRIu64
		        " times\n", "", stats->throttled);
}

/* Where callers are missing for more than this, what helps is said. */
enum { CALLERS_LEAST_PERCENT = 95 };

void ppi_head_short(const struct ppi_report *report, FILE *out)
{
	const portprof_profile_origin *origin =
		portprof_profile_origin_get(report->profile);
	const struct ppi_chains *chains = &report->chains;
	uint64_t bad = chains->ending + chains->skipping + chains->cut;

	ppi_head_life(report, out);
	print_short_when(origin, out);
	print_short_total(report, out);
	ppi_head_shown(report, out);
	ppi_head_waits(report, out);
	print_short_trust(report, out);
	ppi_head_doubts(report, out);
	ppi_head_missing(report, out);
	for (size_t i = 0; i < origin->passed_over_count; i++)
		ppi_head_line(out, "passed over", origin->passed_over_names[i],
		           ": ", origin->passed_over_reasons[i], NULL);
	if (ppi_percent(bad, chains->weight) > 100 - CALLERS_LEAST_PERCENT)
		ppi_head_chains(chains, out);
	ppi_head_notes(report, origin, out);
}
