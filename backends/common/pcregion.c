/* SPDX-License-Identifier: MIT */
/* From the ranges of a plan to safe arguments of profil(). */
#include "backends/common/pcregion.h"

#include <inttypes.h>

/*
 * Every system agrees on scales that are powers of two from 4 to 65536, on an
 * even size, on less than 4 GiB of text. Wider buffers than WIDE_BINS would
 * cost more to read than the profile is worth; NARROW_BINS are what is spent
 * to see the rest of the program, too.
 */
static const uint64_t bin_bytes_min = 2, bin_bytes_max = 32768;
/* Finer than most sinks ask for, as long as it costs little: the samples of
 * one harvest then do not come as one. */
static const uint64_t bin_bytes_usual = 64;
static const uint64_t span_max = (uint64_t)1 << 32;
static const uint64_t wide_bins = (uint64_t)1 << 25;
static const uint64_t narrow_bins = (uint64_t)1 << 21;

struct span {
	uint64_t start, end;
};

static uint64_t bins_in(struct span span, uint64_t bin_bytes)
{
	return (span.end - span.start + bin_bytes - 1) / bin_bytes;
}

static bool fits(struct span span, uint64_t bin_bytes, uint64_t max_bins)
{
	return span.end - span.start < span_max &&
	       bins_in(span, bin_bytes) <= max_bins;
}

static struct span span_of(const struct ppi_plan *plan)
{
	struct span span = { plan->ranges[0].start, plan->ranges[0].end };

	for (size_t i = 1; i < plan->range_count; i++)
		if (plan->ranges[i].end > span.end)
			span.end = plan->ranges[i].end;
	return span;
}

/* The widest bin that no boundary of a sink's falls into: halved until every
 * range begins and ends between two bins. Two bytes are the least there is. */
static uint64_t bin_bytes_for(const struct ppi_plan *plan, uint64_t start)
{
	uint64_t bytes = bin_bytes_max;

	for (size_t i = 0; i < plan->range_count; i++) {
		const struct ppi_range *range = &plan->ranges[i];

		while (bytes > bin_bytes_min &&
		       ((range->bin_bytes && bytes > range->bin_bytes) ||
		        (range->bin_bytes & (range->bin_bytes - 1) &&
		         bytes > bin_bytes_min) ||
		        (range->start - start) % bytes ||
		        (range->end - start) % bytes))
			bytes /= 2;
	}
	return bytes;
}

/* The span with a text in it, begun a whole number of bins earlier. */
static struct span widen(struct span span, struct ppi_text text,
                         uint64_t bin_bytes)
{
	if (text.start < span.start) {
		uint64_t bins = (span.start - text.start + bin_bytes - 1) /
		                bin_bytes;

		span.start = span.start / bin_bytes < bins ?
		                     span.start % bin_bytes :
		                     span.start - bins * bin_bytes;
	}
	if (text.end > span.end)
		span.end = text.end;
	return span;
}

static void fill(struct ppi_pcregion *region, struct span span,
                 uint64_t bin_bytes, const struct ppi_text *texts,
                 size_t text_count)
{
	region->offset = span.start;
	region->bin_bytes = bin_bytes;
	region->bins = (size_t)bins_in(span, bin_bytes);
	region->scale = (unsigned)(131072 / bin_bytes);
	region->has_program = text_count > 0 &&
	                      texts[0].start >= span.start &&
	                      texts[0].end <= span.end;
}

/* Whether [start, end), counted in bytes from the region's first, meets
 * [0, span) when it is cut to `period`. */
static bool wraps_into(uint64_t start, uint64_t end, uint64_t period,
                       uint64_t span)
{
	return end - start >= period || start % period < span ||
	       start % period + (end - start) > period;
}

const struct ppi_text *
ppi_pcregion_alias(const struct ppi_pcregion *region,
                        const struct ppi_pcregion_rules *rules,
                        const struct ppi_text *texts, size_t text_count)
{
	uint64_t span = (uint64_t)region->bins * region->bin_bytes, period;

	if (!rules->cut_bits)
		return NULL;
	/* two bytes a bin, bin_bytes of text */
	period = ((uint64_t)1 << rules->cut_bits) / 2 * region->bin_bytes;
	for (size_t i = 0; i < text_count; i++) {
		const struct ppi_text *text = &texts[i];

		if (text->end <= region->offset + period)
			continue;
		if (text->start < region->offset ||
		    wraps_into(text->start - region->offset,
		               text->end - region->offset, period, span))
			return text;
	}
	return NULL;
}

static portprof_status refuse_span(struct span span, uint64_t bin_bytes,
                                   struct ppi_diag *why)
{
	return ppi_fail(
		why, PORTPROF_E_UNSUPPORTED, 0, "choose region",
		"profil() counts one stretch of text: the regions reach "
		"over %" PRIu64 " MiB, too much for bins of %" PRIu64
		" bytes; ask for regions closer together, for wider "
		"bins, or use another backend",
		(span.end - span.start) >> 20, bin_bytes);
}

static portprof_status refuse_alias(const struct ppi_text *alias,
                                    const struct ppi_pcregion_rules *rules,
                                    uint64_t bin_bytes, struct ppi_diag *why)
{
	return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, "choose region",
	                "on %s code at 0x%" PRIx64 "-0x%" PRIx64 " would count "
	                "as if it were in the regions, whose bins are %" PRIu64
	                " bytes: ask for wider bins, or use another backend",
	                rules->system, alias->start, alias->end, bin_bytes);
}

/* Bins as usual, or as wide as they may be where that does not do. */
static portprof_status choose_bins(struct span span, uint64_t widest,
                                   const struct ppi_pcregion_rules *rules,
                                   const struct ppi_text *texts,
                                   size_t text_count,
                                   struct ppi_pcregion *region,
                                   struct ppi_diag *why)
{
	uint64_t bytes = widest < bin_bytes_usual ? widest : bin_bytes_usual;
	const struct ppi_text *alias;

	for (;; bytes *= 2) {
		if (fits(span, bytes, wide_bins)) {
			fill(region, span, bytes, texts, text_count);
			alias = ppi_pcregion_alias(region, rules, texts,
			                                text_count);
			if (!alias)
				return PORTPROF_OK;
			if (bytes >= widest)
				return refuse_alias(alias, rules, bytes, why);
		} else if (bytes >= widest) {
			return refuse_span(span, bytes, why);
		}
	}
}

static void choose_wider(struct span span, uint64_t bin_bytes,
                         const struct ppi_pcregion_rules *rules,
                         const struct ppi_text *texts, size_t text_count,
                         struct ppi_pcregion *region)
{
	struct ppi_pcregion wider;

	for (size_t i = 0; i < text_count; i++) {
		struct span more = widen(span, texts[i], bin_bytes);

		if (!fits(more, bin_bytes, narrow_bins))
			continue;
		fill(&wider, more, bin_bytes, texts, text_count);
		if (ppi_pcregion_alias(&wider, rules, texts, text_count))
			continue;
		span = more;
		*region = wider;
	}
}

portprof_status ppi_pcregion_choose(const struct ppi_plan *plan,
                                         const struct ppi_pcregion_rules *rules,
                                         const struct ppi_text *texts,
                                         size_t text_count,
                                         struct ppi_pcregion *region,
                                         struct ppi_diag *why)
{
	portprof_status status;
	struct span span;

	if (plan->range_count) {
		span = span_of(plan);
		status = choose_bins(span, bin_bytes_for(plan, span.start),
		                     rules, texts, text_count, region, why);
	} else if (text_count) {
		span = (struct span){ texts[0].start, texts[0].end };
		status = choose_bins(span, bin_bytes_max, rules, texts,
		                     text_count, region, why);
	} else {
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0,
		                "choose region", "the system does not report "
		                "where the program's text lies: add a "
		                "histogram over the text of interest");
	}
	if (status == PORTPROF_OK)
		choose_wider(span, region->bin_bytes, rules, texts,
		             text_count, region);
	return status;
}
