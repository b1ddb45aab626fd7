/* SPDX-License-Identifier: MIT */
/* A limit for the memory to read a file, and the memory used so far. */
#ifndef PPI_FILE_BOUNDS_H
#define PPI_FILE_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

#include <portprof/profile.h>

#include "backends/backend.h"

/*
 * A small file can say much: gzip makes up to 1032 bytes of one, and a record
 * of two bytes takes a hundred in memory. So memory is counted, of all portions
 * and records together. It may grow to PPI_BOUNDS_RATIO times the bytes of the
 * file, which are compressed mostly, but always to PPI_BOUNDS_LEAST and never
 * past PPI_BOUNDS_MOST; or to what the caller asked for.
 */
struct ppi_bounds {
	uint64_t asked;      /* 0: nothing */
	uint64_t file_bytes; /* of a pipe those that came so far */
};

#define PPI_BOUNDS_LEAST (UINT64_C(64) << 20)
#define PPI_BOUNDS_RATIO 256
#define PPI_BOUNDS_MOST (UINT64_C(1) << (SIZE_MAX > UINT32_MAX ? 31 : 30))

static inline uint64_t ppi_bounds_bytes(const struct ppi_bounds *bounds)
{
	uint64_t bytes = PPI_BOUNDS_MOST;

	if (bounds->asked)
		return bounds->asked;
	if (bounds->file_bytes < PPI_BOUNDS_MOST / PPI_BOUNDS_RATIO)
		bytes = bounds->file_bytes * PPI_BOUNDS_RATIO;
	return bytes < PPI_BOUNDS_LEAST ? PPI_BOUNDS_LEAST : bytes;
}

static inline bool ppi_bounds_hold(const struct ppi_bounds *bounds,
                                   uint64_t bytes)
{
	return bytes <= ppi_bounds_bytes(bounds);
}

/* E_LIMIT with the words for it. */
portprof_status ppi_bounds_fail(const struct ppi_bounds *bounds,
                                const char *name, struct ppi_diag *why);

/* What a profile takes in memory, but for what is small in all of them. */
uint64_t ppi_profile_bytes(const portprof_profile *profile);

#endif
