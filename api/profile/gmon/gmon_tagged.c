/* SPDX-License-Identifier: MIT */
/* glibc's format of gmon.out: records behind tags, of a word size that only
 * the program knows. */
#include "api/profile/gmon/gmon_reader.h"

#include "api/profile/gmon/gmon_layout.h"

#include <ctype.h>
#include <string.h>

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
static enum ppi_gmon_status take_unit(struct ppi_gmon_reader *reader,
                                      size_t offset)
{
	uint32_t rate = (uint32_t)ppi_gmon_take(reader, 4);
	const unsigned char *text = reader->bytes + reader->at;
	struct ppi_gmon *gmon = &reader->gmon;

	reader->at += PPI_GMON_DIMENSION_BYTES + 1;
	if (rate > INT32_MAX || !is_text(text, PPI_GMON_DIMENSION_BYTES))
		return ppi_gmon_refuse(
			reader, offset,
			"a histogram whose rate or unit makes no sense: "
			"the file is damaged, or of a program with other "
			"pointers");
	if (reader->has_unit &&
	    (gmon->rate != rate ||
	     memcmp(gmon->dimension, text, PPI_GMON_DIMENSION_BYTES) != 0))
		return ppi_gmon_refuse(
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

static enum ppi_gmon_status take_histogram(struct ppi_gmon_reader *reader)
{
	size_t offset = reader->at - 1;
	uint64_t low, high, bin_count;
	enum ppi_gmon_status status = ppi_gmon_need(
		reader, PPI_GMON_HISTOGRAM_BYTES(reader->pointer_bytes),
		"the head of a histogram");

	if (status != PPI_GMON_OK)
		return status;
	low = ppi_gmon_take(reader, reader->pointer_bytes);
	high = ppi_gmon_take(reader, reader->pointer_bytes);
	bin_count = ppi_gmon_take(reader, 4);
	status = take_unit(reader, offset);
	if (status == PPI_GMON_OK)
		status = ppi_gmon_need(reader, 2 * bin_count,
		                       "a histogram's bins");
	if (status == PPI_GMON_OK)
		status = ppi_gmon_take_bins(reader, offset, low, high,
		                            (size_t)bin_count, 2);
	return status;
}

/* Whether `count` pairs from `at` on end where a record or the file may. */
static bool blocks_end_well(const struct ppi_gmon_reader *reader, size_t at,
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
static enum ppi_gmon_status take_blocks(struct ppi_gmon_reader *reader)
{
	const unsigned widths[] = { reader->pointer_bytes, 4 };

	for (unsigned i = 0; i < 2; i++) {
		uint64_t blocks;

		if (ppi_gmon_left(reader) < widths[i])
			continue;
		blocks = ppi_gmon_number(reader->bytes + reader->at, widths[i],
		                         reader->is_little);
		if (!blocks_end_well(reader, reader->at + widths[i], blocks))
			continue;
		reader->at +=
			widths[i] + (size_t)blocks * 2u * reader->pointer_bytes;
		reader->gmon.block_count += blocks;
		return PPI_GMON_OK;
	}
	return ppi_gmon_refuse(
		reader, reader->at - 1,
		"a list of basic blocks that does not end within the file: it "
		"is truncated or damaged");
}

static enum ppi_gmon_status take_tagged(struct ppi_gmon_reader *reader)
{
	enum ppi_gmon_status status = PPI_GMON_OK;

	while (status == PPI_GMON_OK && ppi_gmon_left(reader) > 0) {
		switch (ppi_gmon_take(reader, 1)) {
		case PPI_GMON_TAG_HISTOGRAM:
			status = take_histogram(reader);
			break;
		case PPI_GMON_TAG_ARC:
			status = ppi_gmon_take_arc(reader, 4);
			break;
		case PPI_GMON_TAG_BLOCKS:
			status = take_blocks(reader);
			break;
		default:
			status = ppi_gmon_refuse(
				reader, reader->at - 1,
				"%u is not a kind of record: the file is "
				"damaged, or of a program with other "
				"pointers",
				reader->bytes[reader->at - 1]);
		}
	}
	return status;
}

static enum ppi_gmon_status try_pointers(struct ppi_gmon_reader *reader,
                                         unsigned pointer_bytes)
{
	struct ppi_gmon_reader trial = *reader;

	trial.pointer_bytes = pointer_bytes;
	trial.is_trial = true;
	return take_tagged(&trial);
}

/* The word size that the whole file can be read with. */
static enum ppi_gmon_status find_pointers(struct ppi_gmon_reader *reader)
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
	if (is_wide && is_narrow && ppi_gmon_left(reader) > 0)
		return ppi_gmon_refuse(
			reader, reader->at,
			"the records may have pointers of 4 or of 8 "
			"bytes: say which program it is");
	reader->pointer_bytes = is_narrow && !is_wide ? 4 : 8;
	return PPI_GMON_OK;
}

enum ppi_gmon_status ppi_gmon_read_tagged(struct ppi_gmon_reader *reader,
                                          unsigned pointer_bytes)
{
	enum ppi_gmon_status status = ppi_gmon_need(
		reader, PPI_GMON_HEADER_BYTES, "the file's header");
	uint64_t version;

	if (status != PPI_GMON_OK)
		return status;
	reader->at = 4;
	reader->is_little = reader->bytes[4] != 0;
	version = ppi_gmon_take(reader, 4);
	if (version == PPI_GMON_VERSION_SPROF ||
	    ppi_gmon_number(reader->bytes + 4, 4, false) ==
	            PPI_GMON_VERSION_SPROF)
		return ppi_gmon_refuse(
			reader, 4,
			"this is LD_PROFILE's data of a shared library, "
			"which sprof(1) reads");
	if (version != PPI_GMON_VERSION)
		return ppi_gmon_refuse(
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
