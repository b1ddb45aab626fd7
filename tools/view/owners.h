/* SPDX-License-Identifier: MIT */
/* Whose a sample is: a thread's, a process', or that of threads of a name. */
#ifndef PPI_REPORT_OWNERS_H
#define PPI_REPORT_OWNERS_H

#include <portprof.h>

#include "tools/view/pairs.h"

struct ppi_owner_entry;

struct ppi_owner {
	uint32_t pid, tid; /* 0 where not told apart by them */
	const char *name;  /* "" unknown */
	uint32_t number;
};

struct ppi_owners {
	const portprof_profile *profile;
	unsigned keys; /* PPI_BY_ bits */
	struct ppi_owner_entry *table, *last;
	struct ppi_pairs named_threads; /* all of the profile */
	uint32_t count;
};

/* False when out of memory; ppi_owners_close is due all the same. */
bool ppi_owners_open(struct ppi_owners *owners, const portprof_profile *profile,
                     unsigned keys);

/* NULL when out of memory. */
const struct ppi_owner *
ppi_owners_find(struct ppi_owners *owners,
                const portprof_profile_sample *sample);
void ppi_owners_close(struct ppi_owners *owners);

#endif
