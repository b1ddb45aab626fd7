/* SPDX-License-Identifier: MIT */
/* Writes gmon.out, in the format of glibc or of 4.4BSD. */
#include "api/profile/gmon/gmon.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_IN_A_BIN = UINT16_MAX };

struct writer {
	const struct ppi_gmon *gmon;
	unsigned pointer_bytes;
	int fd;
	bool has_failed; /* errno tells */
	size_t used;
	unsigned char buffer[8192];
};

static enum ppi_gmon_status refuse(struct ppi_gmon_why *why, const char *words,
                                   ...)
{
	va_list arguments;

	va_start(arguments, words);
	why->offset = 0;
	vsnprintf(why->words, sizeof(why->words), words, arguments);
	va_end(arguments);
	return PPI_GMON_BAD;
}

/* ---- bytes ---- */

static void flush(struct writer *writer)
{
	size_t done = 0;

	while (!writer->has_failed && done < writer->used) {
		ssize_t wrote = write(writer->fd, writer->buffer + done,
		                      writer->used - done);

		if (wrote > 0) {
			done += (size_t)wrote;
		} else if (wrote == 0 || errno != EINTR) {
			if (wrote == 0)
				errno = ENOSPC;
			writer->has_failed = true;
		}
	}
	writer->used = 0;
}

static void put_bytes(struct writer *writer, const void *bytes, size_t count)
{
	if (count > sizeof(writer->buffer) - writer->used)
		flush(writer);
	memcpy(writer->buffer + writer->used, bytes, count);
	writer->used += count;
}

static void put(struct writer *writer, uint64_t number, unsigned bytes)
{
	static const uint16_t probe = 1;
	bool is_little = *(const unsigned char *)&probe == 1;
	unsigned char out[8];

	for (unsigned i = 0; i < bytes; i++) {
		unsigned place = is_little != writer->gmon->is_swapped
		                         ? i
		                         : bytes - 1 - i;

		out[place] = (unsigned char)(number >> 8 * i);
	}
	put_bytes(writer, out, bytes);
}

static void put_address(struct writer *writer, uint64_t address)
{
	put(writer, address - writer->gmon->bias, writer->pointer_bytes);
}

/* ---- what can be said ---- */

static bool fits(const struct ppi_gmon *gmon, unsigned pointer_bytes,
                 uint64_t address)
{
	return address >= gmon->bias &&
	       (pointer_bytes == 8 || address - gmon->bias <= UINT32_MAX);
}

static uint64_t largest_count(const struct ppi_gmon_histogram *histogram)
{
	uint64_t most = 0;

	for (size_t i = 0; i < histogram->bin_count; i++)
		if (ppi_gmon_bin(histogram, i) > most)
			most = ppi_gmon_bin(histogram, i);
	return most;
}

static enum ppi_gmon_status
check_histogram(const struct writer *writer,
                const struct ppi_gmon_histogram *histogram,
                struct ppi_gmon_why *why)
{
	const struct ppi_gmon *gmon = writer->gmon;
	uint64_t bytes = histogram->high - histogram->low, width;

	if (histogram->high <= histogram->low || histogram->bin_count == 0 ||
	    histogram->bin_count > INT32_MAX / 2 ||
	    bytes % histogram->bin_count)
		return refuse(why,
		              "a range of %llu bytes of code cannot have %llu "
		              "bins",
		              (unsigned long long)bytes,
		              (unsigned long long)histogram->bin_count);
	width = bytes / histogram->bin_count;
	if (width & (width - 1))
		return refuse(why,
		              "bins of %llu bytes are not a power of two wide",
		              (unsigned long long)width);
	if (!fits(gmon, writer->pointer_bytes, histogram->low) ||
	    !fits(gmon, writer->pointer_bytes, histogram->high))
		return refuse(why,
		              "code at 0x%llx does not lie in a program loaded "
		              "at 0x%llx with pointers of %u bytes",
		              (unsigned long long)histogram->low,
		              (unsigned long long)gmon->bias,
		              writer->pointer_bytes);
	if (gmon->format == PPI_GMON_BSD &&
	    largest_count(histogram) > MOST_IN_A_BIN)
		return refuse(why,
		              "a bin has %llu ticks, and 4.4BSD's format has "
		              "room for %d; use the tagged one",
		              (unsigned long long)largest_count(histogram),
		              MOST_IN_A_BIN);
	return PPI_GMON_OK;
}

static enum ppi_gmon_status check(const struct writer *writer,
                                  struct ppi_gmon_why *why)
{
	const struct ppi_gmon *gmon = writer->gmon;

	if (gmon->format == PPI_GMON_BSD && gmon->histogram_count != 1)
		return refuse(why,
		              "4.4BSD's format has one histogram, not %llu; "
		              "use the tagged one",
		              (unsigned long long)gmon->histogram_count);
	if (gmon->rate > INT32_MAX)
		return refuse(why, "a rate of %lu does not fit in the file",
		              (unsigned long)gmon->rate);
	for (size_t i = 0; i < gmon->histogram_count; i++) {
		enum ppi_gmon_status status =
			check_histogram(writer, &gmon->histograms[i], why);

		if (status != PPI_GMON_OK)
			return status;
	}
	for (size_t i = 0; i < gmon->arc_count; i++)
		if (!fits(gmon, writer->pointer_bytes, gmon->arcs[i].self))
			return refuse(why,
			              "a function at 0x%llx does not lie in a "
			              "program loaded at 0x%llx",
			              (unsigned long long)gmon->arcs[i].self,
			              (unsigned long long)gmon->bias);
	return PPI_GMON_OK;
}

/* ---- records ---- */

/* What of a count goes into the part-th record of a range. */
static uint64_t part_of(uint64_t count, uint64_t part)
{
	uint64_t before = part * MOST_IN_A_BIN;

	if (count <= before)
		return 0;
	return count - before < MOST_IN_A_BIN ? count - before : MOST_IN_A_BIN;
}

static void put_bins(struct writer *writer,
                     const struct ppi_gmon_histogram *histogram, uint64_t part)
{
	for (size_t i = 0; i < histogram->bin_count && !writer->has_failed; i++)
		put(writer, part_of(ppi_gmon_bin(histogram, i), part), 2);
}

static void put_histogram(struct writer *writer,
                          const struct ppi_gmon_histogram *histogram)
{
	const struct ppi_gmon *gmon = writer->gmon;
	const char *name = gmon->dimension[0] ? gmon->dimension : "seconds";
	uint64_t most = largest_count(histogram), part = 0;
	char dimension[PPI_GMON_DIMENSION_BYTES] = "";

	memcpy(dimension, name,
	       strlen(name) < sizeof(dimension) ? strlen(name)
	                                        : sizeof(dimension));
	do {
		put(writer, PPI_GMON_TAG_HISTOGRAM, 1);
		put_address(writer, histogram->low);
		put_address(writer, histogram->high);
		put(writer, histogram->bin_count, 4);
		put(writer, gmon->rate, 4);
		put_bytes(writer, dimension, sizeof(dimension));
		put(writer,
		    (unsigned char)(gmon->abbreviation ? gmon->abbreviation
		                                       : 's'),
		    1);
		put_bins(writer, histogram, part++);
	} while (part * MOST_IN_A_BIN < most && !writer->has_failed);
}

/* A caller outside of the program has address 0, as mcount has it for what
 * nobody called. */
static void put_from(struct writer *writer, uint64_t from)
{
	if (fits(writer->gmon, writer->pointer_bytes, from))
		put_address(writer, from);
	else
		put(writer, 0, writer->pointer_bytes);
}

/* A count that does not fit goes into further arcs, which gprof adds up. */
static void put_arc(struct writer *writer, const struct ppi_gmon_arc *arc)
{
	bool is_tagged = writer->gmon->format == PPI_GMON_TAGGED;
	unsigned count_bytes = is_tagged ? 4 : writer->pointer_bytes;
	uint64_t left = arc->count;

	do {
		uint64_t most = count_bytes == 4 ? INT32_MAX : INT64_MAX;
		uint64_t count = left < most ? left : most;

		if (is_tagged)
			put(writer, PPI_GMON_TAG_ARC, 1);
		put_from(writer, arc->from);
		put_address(writer, arc->self);
		put(writer, count, count_bytes);
		left -= count;
	} while (left && !writer->has_failed);
}

static void put_tagged_header(struct writer *writer)
{
	put_bytes(writer, "gmon", 4);
	put(writer, PPI_GMON_VERSION, 4);
	for (unsigned i = 0; i < 3; i++)
		put(writer, 0, 4);
}

static void put_bsd(struct writer *writer)
{
	const struct ppi_gmon_histogram *histogram = writer->gmon->histograms;

	put_address(writer, histogram->low);
	put_address(writer, histogram->high);
	put(writer,
	    PPI_GMON_BSD_BYTES(writer->pointer_bytes) +
	            2 * (uint64_t)histogram->bin_count,
	    4);
	put(writer, PPI_GMON_VERSION_BSD, 4);
	put(writer, writer->gmon->rate, 4);
	for (unsigned i = 0; i < 3; i++)
		put(writer, 0, 4);
	put_bins(writer, histogram, 0);
}

enum ppi_gmon_status ppi_gmon_write(const struct ppi_gmon *gmon, int fd,
                                    struct ppi_gmon_why *why)
{
	struct writer writer = {
		.gmon = gmon,
		.fd = fd,
		.pointer_bytes = gmon->pointer_bytes ? gmon->pointer_bytes
		                                     : sizeof(void *),
	};
	enum ppi_gmon_status status = check(&writer, why);

	if (status != PPI_GMON_OK)
		return status;
	if (gmon->format == PPI_GMON_BSD) {
		put_bsd(&writer);
	} else {
		put_tagged_header(&writer);
		for (size_t i = 0; i < gmon->histogram_count; i++)
			put_histogram(&writer, &gmon->histograms[i]);
	}
	for (size_t i = 0; i < gmon->arc_count; i++)
		put_arc(&writer, &gmon->arcs[i]);
	flush(&writer);
	if (!writer.has_failed)
		return PPI_GMON_OK;
	snprintf(why->words, sizeof(why->words), "writing failed: %s",
	         strerror(errno));
	return PPI_GMON_SYSTEM;
}
