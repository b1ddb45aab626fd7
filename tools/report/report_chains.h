/* SPDX-License-Identifier: MIT */
/* How far the call chains of a profile can be believed. */
#ifndef PPI_REPORT_CHAINS_H
#define PPI_REPORT_CHAINS_H

#include "tools/report/report_rows.h"

/*
 * Chains are found by frame pointers. Code without them has the caller of its
 * caller told as its caller, when it leaves the register alone; when it uses
 * the register for something else, the chain ends there, or goes on with what
 * is no code.
 */
enum ppi_chain_end {
	PPI_CHAIN_WHOLE, /* or nothing speaks against it */
	PPI_CHAIN_SKIPS, /* leaves callers out */
	PPI_CHAIN_ENDS   /* before the beginning of the program or thread */
};

struct ppi_chain {
	enum ppi_chain_end end;
	size_t depth;       /* of it that is code */
	const char *module; /* without frame pointers; NULL of a whole one */
};

void ppi_chain_judge(const struct ppi_view *view,
                     const portprof_profile_sample *sample,
                     struct ppi_chain *chain);

/* How many locations of it are code. */
size_t ppi_chain_depth(const struct ppi_view *view,
                       const portprof_profile_sample *sample);

/* Whether a chain may begin there: by the name of the function. */
bool ppi_chain_may_begin(const struct ppi_symbols_name *name);

/* Whether a sample's i-th location, which has to be in the chain, keeps no
 * frame pointer: who called it is left out then. */
bool ppi_chain_skips_at(const struct ppi_view *view,
                        const portprof_profile_sample *sample, size_t i);

/* The weight of samples with chains. */
struct ppi_chains {
	uint64_t weight; /* all of them; 0: there is no chain */
	uint64_t skipping, ending;
	struct ppi_nameless_list modules; /* whose code it is */
};

/* False when out of memory. */
bool ppi_chains_sum(const struct ppi_view *view, struct ppi_chains *chains);
void ppi_chains_free(struct ppi_chains *chains);

#endif
