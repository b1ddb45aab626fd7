/* SPDX-License-Identifier: MIT */
/* The memory of profiles: ids of a file, and a limit for what a file that is read may
 * take. */
#ifndef PPI_FILE_MEMORY_H
#define PPI_FILE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/backend.h"
#include "base/pool.h"
#include "base/vector.h"

/* ---- ids of a file, any numbers but 0, to numbers from 0 on ---- */

/* All zero is empty. Ids that count up from 1 need no look-up. */
struct ppi_ids {
	uint64_t straight;    /* ids 1.. up to this one came in order */
	struct ppi_pool rest; /* the others, from the first that did not */
};

/* Enter the next id. False for 0, for one that was there, without memory. */
static inline bool ppi_ids_add(struct ppi_ids *ids, uint64_t id)
{
	size_t count = ppi_pool_count(&ids->rest);

	if (id == 0 || id <= ids->straight)
		return false;
	if (count == 0 && id == ids->straight + 1 && id < PPI_NONE) {
		ids->straight++;
		return true;
	}
	return ppi_pool_enter(&ids->rest, &id, sizeof(id)) == count;
}

/* The number of an id, or PPI_NONE. */
static inline uint32_t ppi_ids_find(const struct ppi_ids *ids, uint64_t id)
{
	uint32_t number;

	if (id - 1 < ids->straight)
		return (uint32_t)(id - 1);
	number = ppi_pool_find(&ids->rest, &id, sizeof(id));
	return number == PPI_NONE ? PPI_NONE
	                          : (uint32_t)ids->straight + number;
}

static inline void ppi_ids_free(struct ppi_ids *ids)
{
	ppi_pool_free(&ids->rest);
}

/* ---- bounds: a limit for the memory to read a file, and the file ---- */

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

/* What a file that ppi_bounds_load has read takes in memory, taken apart: at
 * most so many bytes for each of the file. Bins of two bytes of a gmon.out
 * become eight, twice when there are two words to try. */
enum { PPI_LOAD_GROWTH = 8 };

/* The bytes of a regular file. E_LIMIT when they do not fit into the bounds,
 * whose file_bytes are set. */
portprof_status ppi_bounds_load(struct ppi_bounds *bounds, const char *path,
                                struct ppi_vector *bytes,
                                struct ppi_diag *why);

#endif
