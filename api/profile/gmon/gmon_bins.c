/* SPDX-License-Identifier: MIT */
/* The histogram of a gmon.out that is exported: its bins hold whole weights until the
 * file is written, with counts of 16 bits. */
#include "config.h"

#include "api/profile/gmon/gmon_export.h"

#include "api/profile/model.h"

#include <errno.h>

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
