/* SPDX-License-Identifier: MIT */
/* From the messages of a file to a profile: every number is checked. */
#ifndef PPI_FILE_RESOLVE_H
#define PPI_FILE_RESOLVE_H

#include "api/profile/memory.h"
#include "api/profile/model.h"
#include "api/profile/pprof/raw.h"
#include "backends/backend.h"

struct ppi_resolve {
	const struct ppi_raw *raw;
	portprof_profile *profile;
	struct ppi_diag *why;
	const char *name;         /* of the file, for messages */
	bool is_torn;             /* what points to nothing may be missing */
	uint64_t dropped;         /* samples, for that reason */
	bool is_difference;       /* a value below 0 was met: resolve again with */
	bool has_sides;           /* two events for each, as ppi_resolve says */
	struct ppi_vector texts;  /* uint32_t: of a raw string the number */
	struct ppi_vector mappings, functions, locations; /* likewise; PPI_NONE
	                           * for what is missing */
	struct ppi_ids location_ids;
	struct ppi_vector types;  /* struct ppi_type: the file's own, of a difference */
	Ppi__Account *account;    /* or NULL; in `arena` */
	struct ppi_arena arena;
};

/*
 * E_FORMAT, E_NOMEM: the profile is to be freed. Fills resolve->profile, all
 * but its damage. A difference of two profiles, as pprof -diff_base and -base
 * write it, has values below 0: its events are "before-X" and "after-X", of
 * which each value is on the side that its sign says.
 */
portprof_status ppi_resolve(struct ppi_resolve *resolve);

/* Part of it: samples, their labels and threads. */
portprof_status ppi_resolve_samples(struct ppi_resolve *resolve);

/* The number of a raw string's text, or PPI_NONE when there is none such. */
static inline uint32_t ppi_resolve_text(const struct ppi_resolve *resolve,
                                        int64_t raw)
{
	if (raw < 0 || (uint64_t)raw >= resolve->texts.count)
		return PPI_NONE;
	return PPI_AT(&resolve->texts, uint32_t)[raw];
}

portprof_status ppi_resolve_bad(struct ppi_resolve *resolve, const char *what);
portprof_status ppi_resolve_memory(struct ppi_resolve *resolve);

/* E_LIMIT when it has grown out of the bounds: to be asked at every record
 * that is taken over. */
portprof_status ppi_resolve_bounds(struct ppi_resolve *resolve);

#endif
