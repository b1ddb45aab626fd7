/* SPDX-License-Identifier: MIT */
/* What the readers of the two formats of gmon.out share. */
#ifndef PPI_GMON_READER_H
#define PPI_GMON_READER_H

#include "api/profile/gmon/gmon.h"

struct ppi_gmon_reader {
	const unsigned char *bytes;
	size_t count, at;
	bool is_little;
	unsigned pointer_bytes;
	bool is_trial; /* nothing is kept, only whether it can be read */
	size_t arc_room;
	bool has_unit; /* rate and dimension are known */
	struct ppi_gmon gmon;
	struct ppi_gmon_why *why;
};

/* Why a file is refused, behind "at byte OFFSET: "; returns BAD. */
enum ppi_gmon_status ppi_gmon_refuse(struct ppi_gmon_reader *reader,
                                     size_t offset, const char *words, ...)
#if defined(__GNUC__)
	__attribute__((format(printf, 3, 4)))
#endif
	;

uint64_t ppi_gmon_number(const unsigned char *bytes, unsigned count,
                         bool is_little);

/* The next number; ppi_gmon_need has said that it is there. */
uint64_t ppi_gmon_take(struct ppi_gmon_reader *reader, unsigned bytes);
size_t ppi_gmon_left(const struct ppi_gmon_reader *reader);

/* BAD when the file has not so many bytes more. */
enum ppi_gmon_status ppi_gmon_need(struct ppi_gmon_reader *reader,
                                   uint64_t bytes, const char *what);

/* A histogram's bins, all of which are there; `offset` is where its header
 * begins. */
enum ppi_gmon_status ppi_gmon_take_bins(struct ppi_gmon_reader *reader,
                                        size_t offset, uint64_t low,
                                        uint64_t high, size_t bin_count,
                                        unsigned bin_bytes);
enum ppi_gmon_status ppi_gmon_take_arc(struct ppi_gmon_reader *reader,
                                       unsigned count_bytes);

/* The formats. pointer_bytes: 0 where it is not known. */
enum ppi_gmon_status ppi_gmon_read_tagged(struct ppi_gmon_reader *reader,
                                          unsigned pointer_bytes);
enum ppi_gmon_status ppi_gmon_read_bsd(struct ppi_gmon_reader *reader);

/* Whether it is 4.4BSD's, of which byte order and word size. */
bool ppi_gmon_find_bsd(struct ppi_gmon_reader *reader);

#endif
