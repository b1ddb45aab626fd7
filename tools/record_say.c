/* SPDX-License-Identifier: MIT */
/* The last words of a recording. */
#include "config.h"

#include "tools/record.h"

#include "tools/tools.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *say_seconds(uint64_t ns, char *out, size_t bytes)
{
	if (ns >= 1000000000)
		snprintf(out, bytes, "%.3f s", (double)ns / 1e9);
	else
		snprintf(out, bytes, "%.3f ms", (double)ns / 1e6);
	return out;
}

/* How often a sample was to come, in words, and how many that makes. */
static uint64_t say_expected(const portprof_event_info *event,
                             const portprof_stats *stats, char *out,
                             size_t bytes)
{
	uint64_t period = stats->granted_period;
	char time[32];

	if (period == 0 && stats->requested_period)
		period = stats->requested_period;
	if (period == 0 && event->unit == PORTPROF_UNIT_NANOSECONDS &&
	    stats->requested_hz > 0)
		period = (uint64_t)(1e9 / stats->requested_hz);
	if (period == 0) {
		snprintf(out, bytes, "%.0f times a second of its time",
		         stats->requested_hz);
		return 0;
	}
	if (event->unit == PORTPROF_UNIT_NANOSECONDS)
		snprintf(out, bytes, "every %s",
		         say_seconds(period, time, sizeof(time)));
	else
		snprintf(out, bytes, "every %" PRIu64 " events", period);
	return stats->total_weight / period;
}

static void say_no_sample(const portprof_event_info *event,
                          const portprof_stats *stats)
{
	char often[64], time[32];
	uint64_t expected = say_expected(event, stats, often, sizeof(often));

	ppi_say("no sample: the command used %s of CPU time, and %s was to be "
	        "sampled %s, so %" PRIu64 " samples were to be expected",
	        say_seconds(stats->cpu_time_ns, time, sizeof(time)),
	        event->canonical, often, expected);
	if (stats->lost_samples)
		ppi_say("%" PRIu64 " samples were lost: sample less often (-F)",
		        stats->lost_samples);
	else if (expected <= 2)
		ppi_say("sample more often (-F 10000), or give it more to do");
	else
		ppi_say("that should not be: the notes in portprof report may "
		        "say why; another backend (-b) may do better");
}

static void say_file(const char *path)
{
	if (strcmp(path, PPI_DEFAULT_OUTPUT) == 0)
		ppi_say("wrote %s; look at it: portprof report", path);
	else
		ppi_say("wrote %s; look at it: portprof report -i %s", path,
		        path);
}

void ppi_say_summary(const struct ppi_record *record, const char *backend,
                     const portprof_event_info *event,
                     const portprof_stats *stats)
{
	char time[32];

	if (record->options.is_quiet)
		return;
	if (stats->kept_samples == 0)
		say_no_sample(event, stats);
	else
		ppi_say("%" PRIu64 " sample%s, %" PRIu64 "%s lost, %s of CPU "
		        "time, by %s",
		        stats->kept_samples,
		        stats->kept_samples == 1 ? "" : "s",
		        stats->lost_samples,
		        stats->lost_certainty == PORTPROF_EXACT ? ""
		                                                : " or more",
		        say_seconds(stats->cpu_time_ns, time, sizeof(time)),
		        backend);
	say_file(record->settings.output);
}
