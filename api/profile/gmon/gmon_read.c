/* SPDX-License-Identifier: MIT */
/* Reads gmon.out, in the format of glibc or of 4.4BSD. No number in a file is
 * believed before there are bytes for what it counts. */
#include "api/profile/gmon/gmon.h"

#include "base/vector.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file that is being read. */
struct reader {
	const unsigned char *bytes;
	size_t count, at;
	bool is_little;
	unsigned pointer_bytes;
	bool is_trial; /* nothing is kept, only whether it can be read */
	bool has_unit; /* rate and dimension are known */
	struct ppi_vector histograms; /* struct ppi_gmon_histogram */
	struct ppi_vector arcs;       /* struct ppi_gmon_arc */
	struct ppi_gmon gmon;         /* all else */
	struct ppi_gmon_why *why;
};

/* Ranges of code, each looked for among the others: no program has so many. */
enum { MOST_HISTOGRAMS = 4096 };

/* Why a file is refused, behind "at byte OFFSET: "; returns BAD. */
static enum ppi_gmon_status refuse(struct reader *reader, size_t offset,
                                   const char *words, ...)
#if defined(__GNUC__)
	__attribute__((format(printf, 3, 4)))
#endif
	;

static enum ppi_gmon_status refuse(struct reader *reader, size_t offset,
                                   const char *words, ...)
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

static enum ppi_gmon_status out_of_memory(struct reader *reader)
{
	snprintf(reader->why->words, sizeof(reader->why->words),
	         "out of memory");
	return PPI_GMON_MEMORY;
}

/* ---- numbers ---- */

static uint64_t number_at(const unsigned char *bytes, unsigned count,
                          bool is_little)
{
	uint64_t number = 0;

	for (unsigned i = 0; i < count; i++)
		number = number << 8 | bytes[is_little ? count - 1 - i : i];
	return number;
}

static size_t bytes_left(const struct reader *reader)
{
	return reader->count - reader->at;
}

/* The next number; need_bytes has said that it is there. */
static uint64_t take_number(struct reader *reader, unsigned bytes)
{
	uint64_t number = number_at(reader->bytes + reader->at, bytes,
	                            reader->is_little);

	reader->at += bytes;
	return number;
}

/* BAD when the file has not so many bytes more. */
static enum ppi_gmon_status need_bytes(struct reader *reader, uint64_t bytes,
                                       const char *what)
{
	if (bytes <= bytes_left(reader))
		return PPI_GMON_OK;
	return refuse(
		reader, reader->at,
		"%s takes %llu bytes and the file has %zu more: it is "
		"truncated or damaged; run the program again",
		what, (unsigned long long)bytes, bytes_left(reader));
}

/* ---- bins ---- */

static struct ppi_gmon_histogram *
find_range(const struct reader *reader, uint64_t low, uint64_t high,
           size_t bin_count)
{
	for (size_t i = 0; i < reader->histograms.count; i++) {
		struct ppi_gmon_histogram *histogram = &PPI_AT(
			&reader->histograms, struct ppi_gmon_histogram)[i];

		if (histogram->low == low && histogram->high == high &&
		    histogram->bin_count == bin_count)
			return histogram;
	}
	return NULL;
}

static struct ppi_gmon_histogram *add_range(struct reader *reader, uint64_t low,
                                            uint64_t high, size_t bin_count)
{
	struct ppi_gmon_histogram histogram = {
		.low = low,
		.high = high,
		.bin_count = bin_count,
		.bin_bytes = sizeof(uint64_t),
		.bins = calloc(bin_count, sizeof(uint64_t)),
	};

	if (!histogram.bins ||
	    !ppi_vector_add(&reader->histograms, sizeof(histogram), &histogram,
	                    1)) {
		free(histogram.bins);
		return NULL;
	}
	return &PPI_AT(&reader->histograms, struct ppi_gmon_histogram)
		[reader->histograms.count - 1];
}

/* A histogram's bins, all of which are there; `offset` is where its header
 * begins. */
static enum ppi_gmon_status take_bins(struct reader *reader, size_t offset,
                                      uint64_t low, uint64_t high,
                                      size_t bin_count, unsigned bin_bytes)
{
	struct ppi_gmon_histogram *histogram;
	uint64_t *bins;

	if (bin_count == 0)
		return PPI_GMON_OK;
	if (low >= high || high - low < bin_count)
		return refuse(
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
	histogram = find_range(reader, low, high, bin_count);
	if (!histogram && reader->histograms.count == MOST_HISTOGRAMS)
		return refuse(
			reader, offset,
			"more than %d ranges of code: the file is damaged",
			MOST_HISTOGRAMS);
	if (!histogram)
		histogram = add_range(reader, low, high, bin_count);
	if (!histogram)
		return out_of_memory(reader);
	bins = histogram->bins;
	for (size_t i = 0; i < bin_count; i++)
		bins[i] += take_number(reader, bin_bytes);
	return PPI_GMON_OK;
}

/* ---- arcs ---- */

static enum ppi_gmon_status take_arc(struct reader *reader,
                                     unsigned count_bytes)
{
	struct ppi_gmon_arc arc;
	enum ppi_gmon_status status = need_bytes(
		reader, 2u * reader->pointer_bytes + count_bytes, "a call");

	if (status != PPI_GMON_OK)
		return status;
	arc.from = take_number(reader, reader->pointer_bytes);
	arc.self = take_number(reader, reader->pointer_bytes);
	arc.count = take_number(reader, count_bytes);
	if (reader->is_trial || arc.count == 0)
		return PPI_GMON_OK;
	return ppi_vector_add(&reader->arcs, sizeof(arc), &arc, 1)
	               ? PPI_GMON_OK
	               : out_of_memory(reader);
}

/* ---- glibc's format: records behind tags ---- */

static bool is_text(const unsigned char *bytes, size_t count)
{
	size_t used = 0;

	while (used < count && isprint(bytes[used]))
		used++;
	while (used < count && bytes[used] == 0)
		used++;
	return used == count;
}

/* The rate and dimension, which all histograms of a file share. */
static enum ppi_gmon_status take_unit(struct reader *reader,
                                      size_t offset)
{
	uint32_t rate = (uint32_t)take_number(reader, 4);
	const unsigned char *text = reader->bytes + reader->at;
	struct ppi_gmon *gmon = &reader->gmon;

	reader->at += PPI_GMON_DIMENSION_BYTES + 1;
	if (rate > INT32_MAX || !is_text(text, PPI_GMON_DIMENSION_BYTES))
		return refuse(
			reader, offset,
			"a histogram whose rate or unit makes no sense: "
			"the file is damaged, or of a program with other "
			"pointers");
	if (reader->has_unit &&
	    (gmon->rate != rate ||
	     memcmp(gmon->dimension, text, PPI_GMON_DIMENSION_BYTES) != 0))
		return refuse(
			reader, offset,
			"a histogram in another unit (%u a %.15s) than "
			"the first (%u a %s): these are two measurements, "
			"which no reader can add up",
			(unsigned)rate, (const char *)text,
			(unsigned)gmon->rate, gmon->dimension);
	reader->has_unit = true;
	gmon->rate = rate;
	memcpy(gmon->dimension, text, PPI_GMON_DIMENSION_BYTES);
	gmon->abbreviation = (char)text[PPI_GMON_DIMENSION_BYTES];
	return PPI_GMON_OK;
}

static enum ppi_gmon_status take_histogram(struct reader *reader)
{
	size_t offset = reader->at - 1;
	uint64_t low, high, bin_count;
	enum ppi_gmon_status status = need_bytes(
		reader, PPI_GMON_HISTOGRAM_BYTES(reader->pointer_bytes),
		"the head of a histogram");

	if (status != PPI_GMON_OK)
		return status;
	low = take_number(reader, reader->pointer_bytes);
	high = take_number(reader, reader->pointer_bytes);
	bin_count = take_number(reader, 4);
	status = take_unit(reader, offset);
	if (status == PPI_GMON_OK)
		status = need_bytes(reader, 2 * bin_count,
		                    "a histogram's bins");
	if (status == PPI_GMON_OK)
		status = take_bins(reader, offset, low, high,
		                   (size_t)bin_count, 2);
	return status;
}

/* Whether `count` pairs from `at` on end where a record or the file may. */
static bool blocks_end_well(const struct reader *reader, size_t at,
                            uint64_t count)
{
	size_t pair = 2u * reader->pointer_bytes;

	if (at > reader->count || count > (reader->count - at) / pair)
		return false;
	at += (size_t)count * pair;
	return at == reader->count || reader->bytes[at] <= PPI_GMON_TAG_BLOCKS;
}

/*
 * Counts of basic blocks. glibc writes how many there are as a size_t, and
 * gprof reads 32 bits: the one that ends well is meant.
 */
static enum ppi_gmon_status take_blocks(struct reader *reader)
{
	const unsigned widths[] = { reader->pointer_bytes, 4 };

	for (unsigned i = 0; i < 2; i++) {
		uint64_t blocks;

		if (bytes_left(reader) < widths[i])
			continue;
		blocks = number_at(reader->bytes + reader->at, widths[i],
		                   reader->is_little);
		if (!blocks_end_well(reader, reader->at + widths[i], blocks))
			continue;
		reader->at +=
			widths[i] + (size_t)blocks * 2u * reader->pointer_bytes;
		reader->gmon.block_count += blocks;
		return PPI_GMON_OK;
	}
	return refuse(
		reader, reader->at - 1,
		"a list of basic blocks that does not end within the file: it "
		"is truncated or damaged");
}

static enum ppi_gmon_status take_tagged(struct reader *reader)
{
	enum ppi_gmon_status status = PPI_GMON_OK;

	while (status == PPI_GMON_OK && bytes_left(reader) > 0) {
		switch (take_number(reader, 1)) {
		case PPI_GMON_TAG_HISTOGRAM:
			status = take_histogram(reader);
			break;
		case PPI_GMON_TAG_ARC:
			status = take_arc(reader, 4);
			break;
		case PPI_GMON_TAG_BLOCKS:
			status = take_blocks(reader);
			break;
		default:
			status = refuse(
				reader, reader->at - 1,
				"%u is not a kind of record: the file is "
				"damaged, or of a program with other "
				"pointers",
				reader->bytes[reader->at - 1]);
		}
	}
	return status;
}

static enum ppi_gmon_status try_pointers(struct reader *reader,
                                         unsigned pointer_bytes)
{
	struct reader trial = *reader;

	trial.pointer_bytes = pointer_bytes;
	trial.is_trial = true;
	return take_tagged(&trial);
}

/* The word size that the whole file can be read with. */
static enum ppi_gmon_status find_pointers(struct reader *reader)
{
	struct ppi_gmon_why *why = reader->why, narrow = { 0 }, wide = { 0 };
	bool is_wide, is_narrow;

	reader->why = &wide;
	is_wide = try_pointers(reader, 8) == PPI_GMON_OK;
	reader->why = &narrow;
	is_narrow = try_pointers(reader, 4) == PPI_GMON_OK;
	reader->why = why;
	if (!is_wide && !is_narrow) {
		*why = narrow.offset > wide.offset ? narrow : wide;
		return PPI_GMON_BAD;
	}
	if (is_wide && is_narrow && bytes_left(reader) > 0)
		return refuse(
			reader, reader->at,
			"the records may have pointers of 4 or of 8 "
			"bytes: say which program it is");
	reader->pointer_bytes = is_narrow && !is_wide ? 4 : 8;
	return PPI_GMON_OK;
}

/* pointer_bytes: 0 where it is not known. */
static enum ppi_gmon_status read_tagged(struct reader *reader,
                                        unsigned pointer_bytes)
{
	enum ppi_gmon_status status = need_bytes(
		reader, PPI_GMON_HEADER_BYTES, "the file's header");
	uint64_t version;

	if (status != PPI_GMON_OK)
		return status;
	reader->at = 4;
	reader->is_little = reader->bytes[4] != 0;
	version = take_number(reader, 4);
	if (version == PPI_GMON_VERSION_SPROF ||
	    number_at(reader->bytes + 4, 4, false) ==
	            PPI_GMON_VERSION_SPROF)
		return refuse(
			reader, 4,
			"this is LD_PROFILE's data of a shared library, "
			"which sprof(1) reads");
	if (version != PPI_GMON_VERSION)
		return refuse(
			reader, 4,
			"version %llu of gmon.out is not known, only 1",
			(unsigned long long)version);
	reader->at = PPI_GMON_HEADER_BYTES;
	reader->pointer_bytes = pointer_bytes;
	if (pointer_bytes == 0)
		status = find_pointers(reader);
	reader->gmon.format = PPI_GMON_TAGGED;
	return status == PPI_GMON_OK ? take_tagged(reader) : status;
}

/* ---- 4.4BSD's format: a bare header, bins, calls ---- */

/* Whether it is 4.4BSD's, of which byte order and word size. It has no cookie
 * in front; its version is in a place of its own. */
static bool find_bsd(struct reader *reader)
{
	for (unsigned i = 0; i < 4; i++) {
		unsigned pointer_bytes = i & 1 ? 4 : 8;
		size_t at = 2u * pointer_bytes + 4;

		if (reader->count < at + 4 ||
		    number_at(reader->bytes + at, 4, i < 2) !=
		            PPI_GMON_VERSION_BSD)
			continue;
		reader->is_little = i < 2;
		reader->pointer_bytes = pointer_bytes;
		return true;
	}
	return false;
}

/*
 * The first spare number: FreeBSD has the bits of a bin there, below zero
 * when they are signed, 0 for 16; OpenBSD the bytes of arcs, a multiple of
 * 12.
 */
static unsigned bytes_of_bins(uint32_t spare)
{
	int32_t bits = (int32_t)spare;

	if (bits < 0 && bits >= -64)
		bits = -bits;
	return bits == 8 || bits == 32 || bits == 64 ? (unsigned)bits / 8 : 2;
}

static enum ppi_gmon_status read_bsd(struct reader *reader)
{
	uint64_t head = PPI_GMON_BSD_BYTES(reader->pointer_bytes);
	uint64_t low, high, bytes;
	unsigned bin_bytes;
	enum ppi_gmon_status status =
		need_bytes(reader, head, "the file's header");

	if (status != PPI_GMON_OK)
		return status;
	low = take_number(reader, reader->pointer_bytes);
	high = take_number(reader, reader->pointer_bytes);
	bytes = take_number(reader, 4);
	reader->at += 4;
	reader->gmon.rate = (uint32_t)take_number(reader, 4);
	bin_bytes = bytes_of_bins((uint32_t)take_number(reader, 4));
	reader->at = (size_t)head;
	memcpy(reader->gmon.dimension, "seconds", sizeof("seconds"));
	reader->gmon.abbreviation = 's';
	reader->gmon.format = PPI_GMON_BSD;
	if (bytes < head || (bytes - head) % bin_bytes ||
	    reader->gmon.rate > INT32_MAX)
		return refuse(
			reader, 0,
			"the header claims %llu bytes and %lu ticks "
			"a second: the file is damaged",
			(unsigned long long)bytes,
			(unsigned long)reader->gmon.rate);
	status = need_bytes(reader, bytes - head, "the bins");
	if (status == PPI_GMON_OK)
		status = take_bins(reader, 0, low, high,
		                   (size_t)(bytes - head) / bin_bytes,
		                   bin_bytes);
	while (status == PPI_GMON_OK && bytes_left(reader) > 0)
		status = take_arc(reader, reader->pointer_bytes);
	return status;
}

/* ---- of either format ---- */

void ppi_gmon_free(struct ppi_gmon *gmon)
{
	for (size_t i = 0; i < gmon->histogram_count; i++)
		free(gmon->histograms[i].bins);
	free(gmon->histograms);
	free(gmon->arcs);
	gmon->histograms = NULL;
	gmon->histogram_count = 0;
	gmon->arcs = NULL;
	gmon->arc_count = 0;
}

static bool has_cookie(const void *bytes, size_t count)
{
	return count >= 4 && memcmp(bytes, "gmon", 4) == 0;
}

bool ppi_gmon_is(const void *bytes, size_t count)
{
	struct reader reader = { .bytes = bytes, .count = count };

	return has_cookie(bytes, count) || find_bsd(&reader);
}

static bool is_native(const struct reader *reader)
{
	static const uint16_t probe = 1;

	return reader->is_little == (*(const unsigned char *)&probe == 1);
}

enum ppi_gmon_status ppi_gmon_parse(const void *bytes, size_t count,
                                    unsigned pointer_bytes,
                                    struct ppi_gmon *gmon,
                                    struct ppi_gmon_why *why)
{
	struct reader reader = { .bytes = bytes, .count = count, .why = why };
	enum ppi_gmon_status status;

	memset(why, 0, sizeof(*why));
	if (has_cookie(bytes, count))
		status = read_tagged(&reader, pointer_bytes);
	else if (find_bsd(&reader))
		status = read_bsd(&reader);
	else
		status = refuse(
			&reader, 0,
			"this is not a gmon.out: it begins neither with "
			"\"gmon\" nor with 4.4BSD's header");
	reader.gmon.histograms = reader.histograms.data;
	reader.gmon.histogram_count = reader.histograms.count;
	reader.gmon.arcs = reader.arcs.data;
	reader.gmon.arc_count = reader.arcs.count;
	if (status != PPI_GMON_OK) {
		ppi_gmon_free(&reader.gmon);
		return status;
	}
	reader.gmon.pointer_bytes = reader.pointer_bytes;
	reader.gmon.is_swapped = !is_native(&reader);
	*gmon = reader.gmon;
	return PPI_GMON_OK;
}
