/* SPDX-License-Identifier: MIT */
/*
 * Numbers, bins and calls of gmon.out files. No number in a file is believed
 * before there are bytes for what it counts.
 */
#include "api/profile/gmon/gmon_reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Ranges of code, each looked for among the others: no program has so many. */
enum { MOST_HISTOGRAMS = 4096 };

enum ppi_gmon_status ppi_gmon_refuse(struct ppi_gmon_reader *reader,
                                     size_t offset, const char *words, ...)
{
	va_list arguments;
	int used = snprintf(reader->why->words, sizeof(reader->why->words),
	                    "at byte %zu: ", offset);

	reader->why->offset = offset;
	va_start(arguments, words);
	vsnprintf(reader->why->words + used,
	          sizeof(reader->why->words) - (size_t)used, words, arguments);
	va_end(arguments);
	return PPI_GMON_BAD;
}

static enum ppi_gmon_status out_of_memory(struct ppi_gmon_reader *reader)
{
	snprintf(reader->why->words, sizeof(reader->why->words),
	         "out of memory");
	return PPI_GMON_MEMORY;
}

/* ---- numbers ---- */

uint64_t ppi_gmon_number(const unsigned char *bytes, unsigned count,
                         bool is_little)
{
	uint64_t number = 0;

	for (unsigned i = 0; i < count; i++)
		number = number << 8 | bytes[is_little ? count - 1 - i : i];
	return number;
}

size_t ppi_gmon_left(const struct ppi_gmon_reader *reader)
{
	return reader->count - reader->at;
}

uint64_t ppi_gmon_take(struct ppi_gmon_reader *reader, unsigned bytes)
{
	uint64_t number = ppi_gmon_number(reader->bytes + reader->at, bytes,
	                                  reader->is_little);

	reader->at += bytes;
	return number;
}

enum ppi_gmon_status ppi_gmon_need(struct ppi_gmon_reader *reader,
                                   uint64_t bytes, const char *what)
{
	if (bytes <= ppi_gmon_left(reader))
		return PPI_GMON_OK;
	return ppi_gmon_refuse(
		reader, reader->at,
		"%s takes %llu bytes and the file has %zu more: it is "
		"truncated or damaged; run the program again",
		what, (unsigned long long)bytes, ppi_gmon_left(reader));
}

/* ---- bins ---- */

static struct ppi_gmon_histogram *
find_range(struct ppi_gmon *gmon, uint64_t low, uint64_t high, size_t bin_count)
{
	for (size_t i = 0; i < gmon->histogram_count; i++) {
		struct ppi_gmon_histogram *histogram = &gmon->histograms[i];

		if (histogram->low == low && histogram->high == high &&
		    histogram->bin_count == bin_count)
			return histogram;
	}
	return NULL;
}

static struct ppi_gmon_histogram *add_range(struct ppi_gmon *gmon, uint64_t low,
                                            uint64_t high, size_t bin_count)
{
	struct ppi_gmon_histogram *grown = realloc(
		gmon->histograms, (gmon->histogram_count + 1) * sizeof(*grown));

	if (!grown)
		return NULL;
	gmon->histograms = grown;
	grown += gmon->histogram_count;
	*grown = (struct ppi_gmon_histogram){
		.low = low,
		.high = high,
		.bin_count = bin_count,
		.bin_bytes = sizeof(uint64_t),
		.bins = calloc(bin_count, sizeof(uint64_t)),
	};
	if (!grown->bins)
		return NULL;
	gmon->histogram_count++;
	return grown;
}

/* `bin_count` bins, which are there. */
enum ppi_gmon_status ppi_gmon_take_bins(struct ppi_gmon_reader *reader,
                                        size_t offset, uint64_t low,
                                        uint64_t high, size_t bin_count,
                                        unsigned bin_bytes)
{
	struct ppi_gmon *gmon = &reader->gmon;
	struct ppi_gmon_histogram *histogram;
	uint64_t *bins;

	if (bin_count == 0)
		return PPI_GMON_OK;
	if (low >= high || high - low < bin_count)
		return ppi_gmon_refuse(
			reader, offset,
			"a histogram from 0x%llx to 0x%llx cannot have "
			"%zu bins: the file is damaged, or of a program "
			"with other pointers",
			(unsigned long long)low, (unsigned long long)high,
			bin_count);
	if (reader->is_trial) {
		reader->at += bin_count * bin_bytes;
		return PPI_GMON_OK;
	}
	histogram = find_range(gmon, low, high, bin_count);
	if (!histogram && gmon->histogram_count == MOST_HISTOGRAMS)
		return ppi_gmon_refuse(
			reader, offset,
			"more than %d ranges of code: the file is damaged",
			MOST_HISTOGRAMS);
	if (!histogram)
		histogram = add_range(gmon, low, high, bin_count);
	if (!histogram)
		return out_of_memory(reader);
	bins = histogram->bins;
	for (size_t i = 0; i < bin_count; i++)
		bins[i] += ppi_gmon_take(reader, bin_bytes);
	return PPI_GMON_OK;
}

/* ---- arcs ---- */

enum ppi_gmon_status ppi_gmon_take_arc(struct ppi_gmon_reader *reader,
                                       unsigned count_bytes)
{
	struct ppi_gmon *gmon = &reader->gmon;
	struct ppi_gmon_arc arc;
	enum ppi_gmon_status status = ppi_gmon_need(
		reader, 2u * reader->pointer_bytes + count_bytes, "a call");

	if (status != PPI_GMON_OK)
		return status;
	arc.from = ppi_gmon_take(reader, reader->pointer_bytes);
	arc.self = ppi_gmon_take(reader, reader->pointer_bytes);
	arc.count = ppi_gmon_take(reader, count_bytes);
	if (reader->is_trial || arc.count == 0)
		return PPI_GMON_OK;
	if (gmon->arc_count == reader->arc_room) {
		size_t room = reader->arc_room ? 2 * reader->arc_room : 256;
		struct ppi_gmon_arc *grown =
			realloc(gmon->arcs, room * sizeof(*grown));

		if (!grown)
			return out_of_memory(reader);
		gmon->arcs = grown;
		reader->arc_room = room;
	}
	gmon->arcs[gmon->arc_count++] = arc;
	return PPI_GMON_OK;
}
