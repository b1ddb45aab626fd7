/* SPDX-License-Identifier: MIT */
/* The histogram of a gmon.out that is exported: its bins hold whole weights
 * until the file is written, as ticks, with counts of 16 bits. */
#include "config.h"

#include "api/profile/gmon/gmon_export.h"
#include "api/profile/model.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* ---- weights into bins ---- */

enum {
	LEAST_BIN = 2,      /* gprof's own unit of addresses */
	MOST_BINS = 1 << 23 /* of one record: 16 MiB */
};

portprof_status ppi_gmon_export_memory(const struct ppi_gmon_export *exporting)
{
	return ppi_fail(exporting->why, PORTPROF_E_NOMEM, ENOMEM,
	                "write gmon.out", "out of memory");
}

/* Wider ones where there is much code. */
static uint64_t width_of(const struct ppi_image *image)
{
	uint64_t bytes = 0, width = LEAST_BIN;

	for (size_t i = 0; i < image->code_count; i++)
		bytes += image->code[i].bytes;
	while (bytes / width >= MOST_BINS)
		width *= 2;
	return width;
}

/* Code that shares a bin with what lies before it goes into one range. */
portprof_status ppi_gmon_export_lay(struct ppi_gmon_export *exporting)
{
	const struct ppi_image *image = &exporting->module.image;
	struct ppi_gmon *gmon = &exporting->gmon;
	uint64_t width = exporting->written.bin_bytes = width_of(image);

	gmon->histograms = exporting->histograms;
	for (size_t i = 0; i < image->code_count; i++) {
		uint64_t low = image->code[i].address;
		uint64_t high = low + image->code[i].bytes;
		struct ppi_gmon_histogram *last =
			&gmon->histograms[gmon->histogram_count];

		if (high > UINT64_MAX - width)
			return ppi_fail(exporting->why, PORTPROF_E_FORMAT, 0,
			                "write gmon.out",
			                "'%s' is damaged: its code is at the "
			                "end of the address space",
			                exporting->module.path);
		ppi_gmon_lay(&low, &high, width);
		if (gmon->histogram_count && low <= last[-1].high)
			last[-1].high =
				high > last[-1].high ? high : last[-1].high;
		else
			gmon->histograms[gmon->histogram_count++] =
				(struct ppi_gmon_histogram){ .low = low,
				                             .high = high };
	}
	for (size_t i = 0; i < gmon->histogram_count; i++) {
		struct ppi_gmon_histogram *histogram = &gmon->histograms[i];
		uint64_t bins = (histogram->high - histogram->low) / width;

		histogram->bin_count = (size_t)bins;
		histogram->bin_bytes = sizeof(uint64_t);
		histogram->bins = calloc((size_t)bins, sizeof(uint64_t));
		if (!histogram->bins)
			return ppi_gmon_export_memory(exporting);
	}
	return PORTPROF_OK;
}

static uint64_t *bin_of(struct ppi_gmon_export *exporting, uint64_t address)
{
	struct ppi_gmon *gmon = &exporting->gmon;

	for (size_t i = 0; i < gmon->histogram_count; i++) {
		const struct ppi_gmon_histogram *histogram =
			&gmon->histograms[i];

		if (address >= histogram->low && address < histogram->high)
			return (uint64_t *)histogram->bins +
			       (address - histogram->low) /
			               exporting->written.bin_bytes;
	}
	return NULL;
}

void ppi_gmon_export_spread(struct ppi_gmon_export *exporting, uint64_t address,
                            uint64_t span, uint64_t weight)
{
	uint64_t width = exporting->written.bin_bytes, done = 0;
	uint64_t first = width - address % width;

	for (uint64_t at = 0; at < span;) {
		uint64_t end = at == 0 ? first : at + width;
		uint64_t part, *bin, *next;

		if (end > span)
			end = span;
		bin = bin_of(exporting, address + at);
		next = end < span ? bin_of(exporting, address + end) : NULL;
		part = next ? weight / span * end + weight % span * end / span
		            : weight;
		*bin = ppi_add(*bin, part - done);
		if (!next)
			return;
		done = part;
		at = end;
	}
}

/* ---- from weights to ticks, which is what a gmon.out counts ---- */

#define NS_PER_SECOND UINT64_C(1000000000)

/* Where the profile does not tell its own. */
enum { DEFAULT_RATE = 1000 };

/* Of all records: a count in many of them makes many. */
#define MOST_RECORD_BYTES (UINT64_C(1) << 28)

const portprof_profile_event *
ppi_gmon_export_event(const struct ppi_gmon_export *exporting)
{
	return portprof_profile_event_get(exporting->profile,
	                                  exporting->wanted.event);
}

/* Ticks a second: what was asked for here, what was granted when it was
 * measured, or what another writer says of its period. */
static uint32_t rate_of(const struct ppi_gmon_export *exporting)
{
	const portprof_profile *profile = exporting->profile;
	const portprof_profile_event *event = ppi_gmon_export_event(exporting);
	const portprof_stats *stats = &event->stats;
	double rate = 0;

	if (exporting->wanted.rate_hz)
		return exporting->wanted.rate_hz;
	if (event->has_stats && stats->granted_hz > 0)
		rate = stats->granted_hz;
	else if (event->has_stats && stats->granted_period)
		rate = (double)NS_PER_SECOND / (double)stats->granted_period;
	else if (profile->period > 0 &&
	         strcmp(ppi_profile_string(profile, profile->period_type.unit),
	                "nanoseconds") == 0)
		rate = (double)NS_PER_SECOND / (double)profile->period;
	if (!(rate > 0))
		return DEFAULT_RATE;
	return rate < 1                    ? 1
	       : rate > PPI_GMON_MOST_RATE ? PPI_GMON_MOST_RATE
	                                   : (uint32_t)(rate + 0.5);
}

/*
 * Other events than time: a tick is a power of 1000 of them, so that few
 * records do, and the unit 1000 ticks: "Mcycles", "Gcycles".
 */
static void choose_unit(struct ppi_gmon_export *exporting)
{
	static const char prefixes[] = " MGTPE";
	const portprof_profile_event *event = ppi_gmon_export_event(exporting);
	uint64_t all = exporting->written.kept_weight;
	int prefix = 0;

	exporting->events_a_tick = 1;
	while (all / exporting->events_a_tick > 1000000 && prefix < 5) {
		exporting->events_a_tick *= 1000;
		prefix++;
	}
	exporting->gmon.rate = prefix ? 1000 : 1;
	snprintf(exporting->gmon.dimension, sizeof(exporting->gmon.dimension),
	         "%.*s%.*s", prefix ? 1 : 0, prefixes + prefix,
	         (int)strcspn(event->name, ":"), event->name);
	exporting->gmon.abbreviation = exporting->gmon.dimension[0];
}

static uint64_t ticks_of(const struct ppi_gmon_export *exporting,
                         uint64_t weight)
{
	uint64_t rate = exporting->gmon.rate;

	if (ppi_gmon_export_event(exporting)->unit != PORTPROF_UNIT_NANOSECONDS)
		return weight / exporting->events_a_tick +
		       (weight % exporting->events_a_tick * 2 >=
		        exporting->events_a_tick);
	return weight / NS_PER_SECOND * rate +
	       (weight % NS_PER_SECOND * rate + NS_PER_SECOND / 2) /
	               NS_PER_SECOND;
}

/*
 * Each bin gets what brings the sum of ticks so far nearest to the sum of
 * weights so far: no total is off by more than a tick, however many bins have
 * less than half of one.
 */
static portprof_status count_ticks(struct ppi_gmon_export *exporting)
{
	uint64_t weight = 0, ticks = 0;

	for (size_t i = 0; i < exporting->gmon.histogram_count; i++) {
		const struct ppi_gmon_histogram *histogram =
			&exporting->histograms[i];
		uint64_t *bins = histogram->bins, most = 0;

		for (size_t k = 0; k < histogram->bin_count; k++) {
			weight = ppi_add(weight, bins[k]);
			bins[k] = ticks_of(exporting, weight) - ticks;
			ticks += bins[k];
			most = bins[k] > most ? bins[k] : most;
		}
		if (most < MOST_RECORD_BYTES)
			exporting->bytes += (most / UINT16_MAX + 1) * 2 *
			                    histogram->bin_count;
		if (most >= MOST_RECORD_BYTES ||
		    exporting->bytes > MOST_RECORD_BYTES)
			return ppi_fail(
				exporting->why, PORTPROF_E_LIMIT, 0,
				"write gmon.out",
				"a bin would have %" PRIu64 " ticks, and "
				"65535 go into each record of %zu bins: "
				"ask for fewer ticks a second than %u",
				most, histogram->bin_count,
				(unsigned)exporting->gmon.rate);
	}
	exporting->written.ticks = ticks;
	return PORTPROF_OK;
}

portprof_status ppi_gmon_export_ticks(struct ppi_gmon_export *exporting)
{
	struct ppi_gmon *gmon = &exporting->gmon;

	if (ppi_gmon_export_event(exporting)->unit ==
	    PORTPROF_UNIT_NANOSECONDS) {
		gmon->rate = rate_of(exporting);
		memcpy(gmon->dimension, "seconds", sizeof("seconds"));
	} else {
		choose_unit(exporting);
	}
	exporting->written.rate = gmon->rate;
	memcpy(exporting->written.dimension, gmon->dimension,
	       sizeof(exporting->written.dimension));
	return count_ticks(exporting);
}
