/* SPDX-License-Identifier: MIT */
/* The one stretch of text that profil() is to count, for what sinks want. */
#ifndef PPI_PROFIL_REGION_H
#define PPI_PROFIL_REGION_H

#include "backends/backend.h"
#include "backends/profil/profil_rules.h"

enum { PROFIL_TEXTS = 256 };

struct profil_region {
	uint64_t offset;     /* address of the first byte */
	uint64_t bin_bytes;  /* of text; a power of two, 2..32768 */
	size_t bins;
	unsigned scale;      /* 131072 / bin_bytes: 4..65536 */
	bool has_program;    /* the program's whole text is in it */
};

/*
 * Choose for all ranges of the plan; without ranges, for the program's text.
 * Only arguments on which all systems agree come out: E_UNSUPPORTED with
 * words when the ranges cannot be had with such.
 */
portprof_status ppi_profil_region_choose(const struct ppi_plan *plan,
                                         const struct profil_rules *rules,
                                         const struct profil_text *texts,
                                         size_t text_count,
                                         struct profil_region *region,
                                         struct ppi_diag *why);

/* The first text outside the region whose code would count as if it were in
 * it; NULL when there is none. */
const struct profil_text *
ppi_profil_region_alias(const struct profil_region *region,
                        const struct profil_rules *rules,
                        const struct profil_text *texts, size_t text_count);

#endif
