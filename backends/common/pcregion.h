/* SPDX-License-Identifier: MIT */
/* The one stretch of text that profil() is to count, for what sinks want. */
#ifndef PPI_PCREGION_H
#define PPI_PCREGION_H

#include "backends/backend.h"
#include "base/processes.h"

enum { PPI_TEXTS = 256 };

/* How a kernel finds the bin of a pc. */
struct ppi_pcregion_rules {
	const char *system;   /* its name, for words */
	unsigned cut_bits;    /* bin offsets are cut to so many bits before
	                       * the range test; 0 = they are not */
};

struct ppi_pcregion {
	uint64_t offset;     /* address of the first byte */
	uint64_t bin_bytes;  /* of text; a power of two, 2..32768 */
	size_t bins;
	unsigned scale;      /* 131072 / bin_bytes: 4..65536 */
	bool has_program;    /* the program's whole text is in it */
};

/*
 * Choose for all ranges of the plan; without ranges, for the program's text.
 * Only arguments on which all systems agree come out: E_UNSUPPORTED with
 * words when the ranges do not fit such bins.
 */
portprof_status ppi_pcregion_choose(const struct ppi_plan *plan,
                                         const struct ppi_pcregion_rules *rules,
                                         const struct ppi_text *texts,
                                         size_t text_count,
                                         struct ppi_pcregion *region,
                                         struct ppi_diag *why);

/* The first text outside the region whose code would count as if it were in
 * it; NULL when there is none. */
const struct ppi_text *
ppi_pcregion_alias(const struct ppi_pcregion *region,
                        const struct ppi_pcregion_rules *rules,
                        const struct ppi_text *texts, size_t text_count);

#endif
