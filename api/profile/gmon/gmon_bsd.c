/* SPDX-License-Identifier: MIT */
/* 4.4BSD's format of gmon.out: a bare header, bins, calls. */
#include "api/profile/gmon/gmon_reader.h"

#include "api/profile/gmon/gmon_layout.h"

#include <string.h>

/* It has no cookie in front; its version is in a place of its own. */
bool ppi_gmon_find_bsd(struct ppi_gmon_reader *reader)
{
	for (unsigned i = 0; i < 4; i++) {
		unsigned pointer_bytes = i & 1 ? 4 : 8;
		size_t at = 2u * pointer_bytes + 4;

		if (reader->count < at + 4 ||
		    ppi_gmon_number(reader->bytes + at, 4, i < 2) !=
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

enum ppi_gmon_status ppi_gmon_read_bsd(struct ppi_gmon_reader *reader)
{
	uint64_t head = PPI_GMON_BSD_BYTES(reader->pointer_bytes);
	uint64_t low, high, bytes;
	unsigned bin_bytes;
	enum ppi_gmon_status status =
		ppi_gmon_need(reader, head, "the file's header");

	if (status != PPI_GMON_OK)
		return status;
	low = ppi_gmon_take(reader, reader->pointer_bytes);
	high = ppi_gmon_take(reader, reader->pointer_bytes);
	bytes = ppi_gmon_take(reader, 4);
	reader->at += 4;
	reader->gmon.rate = (uint32_t)ppi_gmon_take(reader, 4);
	bin_bytes = bytes_of_bins((uint32_t)ppi_gmon_take(reader, 4));
	reader->at = (size_t)head;
	memcpy(reader->gmon.dimension, "seconds", sizeof("seconds"));
	reader->gmon.abbreviation = 's';
	reader->gmon.format = PPI_GMON_BSD;
	if (bytes < head || (bytes - head) % bin_bytes ||
	    reader->gmon.rate > INT32_MAX)
		return ppi_gmon_refuse(
			reader, 0,
			"the header claims %llu bytes and %lu ticks "
			"a second: the file is damaged",
			(unsigned long long)bytes,
			(unsigned long)reader->gmon.rate);
	status = ppi_gmon_need(reader, bytes - head, "the bins");
	if (status == PPI_GMON_OK)
		status = ppi_gmon_take_bins(reader, 0, low, high,
		                            (size_t)(bytes - head) / bin_bytes,
		                            bin_bytes);
	while (status == PPI_GMON_OK && ppi_gmon_left(reader) > 0)
		status = ppi_gmon_take_arc(reader, reader->pointer_bytes);
	return status;
}
