/* SPDX-License-Identifier: MIT */
/*
 * Numbers that stand in gmon.out files. Sources: glibc's sys/gmon_out.h and
 * gmon/gmon.c, FreeBSD's and OpenBSD's sys/gmon.h, binutils' gprof/gmon_io.c.
 */
#ifndef PPI_GMON_LAYOUT_H
#define PPI_GMON_LAYOUT_H

enum {
	PPI_GMON_HEADER_BYTES = 20, /* cookie, version, 12 of nothing */
	PPI_GMON_VERSION = 1,
	PPI_GMON_VERSION_SPROF = 0x1ffff, /* LD_PROFILE's, for sprof(1) */
	PPI_GMON_VERSION_BSD = 0x51879,
	PPI_GMON_DIMENSION_BYTES = 15
};

enum { PPI_GMON_TAG_HISTOGRAM, PPI_GMON_TAG_ARC, PPI_GMON_TAG_BLOCKS };

/* A histogram's own header, behind its tag: two pointers, the number of bins,
 * the rate, dimension, abbreviation. */
#define PPI_GMON_HISTOGRAM_BYTES(pointer_bytes)                                \
	(2u * (pointer_bytes) + 4u + 4u + PPI_GMON_DIMENSION_BYTES + 1u)

/* 4.4BSD: two pointers, bytes of header and bins, version, rate, three
 * spare. */
#define PPI_GMON_BSD_BYTES(pointer_bytes) (2u * (pointer_bytes) + 6u * 4u)

#endif
