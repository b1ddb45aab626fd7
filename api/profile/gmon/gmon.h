/* SPDX-License-Identifier: MIT */
/*
 * gmon.out files: what gprof(1) reads, in glibc's tagged format and in that of
 * 4.4BSD. No signal handler may call this; nothing but the C library is
 * needed. The files of this folder:
 *
 *   gmon_read.c    bytes to struct ppi_gmon
 *   gmon_write.c   and back
 *   gmon_import.c  from there to a profile
 *   gmon_export.c  and back; gmon_bins.c its histogram
 */
#ifndef PPI_GMON_H
#define PPI_GMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- a file in memory ---- */

enum ppi_gmon_format {
	PPI_GMON_TAGGED, /* "gmon", version 1, then records with tags */
	PPI_GMON_BSD     /* a bare header, bins, arcs to the end of the file */
};

/*
 * Ticks in [low, high), which are bin_count bins of equal width. Bins are
 * unsigned numbers of bin_bytes bytes (2, 4 or 8), in native order; 8 when
 * read.
 */
struct ppi_gmon_histogram {
	uint64_t low, high;
	size_t bin_count;
	unsigned bin_bytes;
	void *bins;
};

/* `self` was called from `from`, a return address, `count` times. */
struct ppi_gmon_arc {
	uint64_t from, self, count;
};

/*
 * A whole file. Addresses are those of the executable file, as nm(1) prints
 * them; for writing they may be those of memory with `bias` telling how much
 * is to be subtracted. All that is 0 for writing: tagged format, this
 * machine's pointers and byte order, dimension "seconds".
 */
struct ppi_gmon {
	enum ppi_gmon_format format;
	unsigned pointer_bytes; /* 4 or 8 */
	bool is_swapped;        /* not in this machine's byte order */
	uint32_t rate;      /* ticks in one unit of the dimension; 0 unknown */
	char dimension[16]; /* "seconds"; at most 15 bytes in a file */
	char abbreviation;  /* 's' */
	uint64_t bias;      /* for writing only */
	struct ppi_gmon_histogram *histograms;
	size_t histogram_count;
	struct ppi_gmon_arc *arcs;
	size_t arc_count;
	uint64_t block_count; /* read: counts of basic blocks, left out */
};

enum ppi_gmon_status {
	PPI_GMON_OK,
	PPI_GMON_BAD,    /* no such file, or what no such file can hold */
	PPI_GMON_MEMORY, /* out of memory */
	PPI_GMON_SYSTEM  /* errno tells */
};

/* Where and why, for people; after any failure but OK. */
struct ppi_gmon_why {
	uint64_t offset; /* of the file; reading only */
	char words[256];
};

/*
 * Whether bytes that begin so, of a file of that size or more, are a
 * gmon.out: 40 bytes are enough to tell.
 */
bool ppi_gmon_is(const void *bytes, size_t count);

/*
 * Take a file apart. `pointer_bytes` is the word size of the program where it
 * is known, else 0: the tagged format does not tell it, and it is then taken
 * from what fits. Records of one and the same range are added up. On failure
 * `gmon` is untouched, else ppi_gmon_free frees it.
 */
enum ppi_gmon_status ppi_gmon_parse(const void *bytes, size_t count,
                                    unsigned pointer_bytes,
                                    struct ppi_gmon *gmon,
                                    struct ppi_gmon_why *why);
void ppi_gmon_free(struct ppi_gmon *gmon);

/*
 * Write to a file that was opened for writing. The width of bins must be a
 * power of two. Counts above 65535, which no bin of such a file holds, go into
 * further records of the same range, which gprof adds up; 4.4BSD's format has
 * one histogram and no way to say more (BAD). Everything is checked before the
 * first byte is written.
 */
enum ppi_gmon_status ppi_gmon_write(const struct ppi_gmon *gmon, int fd,
                                    struct ppi_gmon_why *why);

/*
 * Make a range of whole bins: `low` goes down and `high` up to a multiple of
 * `width`, a power of two. Returns the number of bins.
 */
static inline uint64_t ppi_gmon_lay(uint64_t *low, uint64_t *high,
                                    uint64_t width)
{
	*low &= ~(width - 1);
	*high = (*high + width - 1) & ~(width - 1);
	return (*high - *low) / width;
}

static inline uint64_t ppi_gmon_bin(const struct ppi_gmon_histogram *histogram,
                                    size_t bin)
{
	switch (histogram->bin_bytes) {
	case 2:
		return ((const uint16_t *)histogram->bins)[bin];
	case 4:
		return ((const uint32_t *)histogram->bins)[bin];
	default:
		return ((const uint64_t *)histogram->bins)[bin];
	}
}

/* ---- numbers that stand in such files ---- */

/* Sources: glibc's sys/gmon_out.h and gmon/gmon.c, FreeBSD's and OpenBSD's sys/gmon.h, binutils' gprof/gmon_io.c. */
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
