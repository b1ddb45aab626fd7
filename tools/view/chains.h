/* SPDX-License-Identifier: MIT */
/* How complete the call chains of a profile are. */
#ifndef PPI_CHAINS_H
#define PPI_CHAINS_H

#include "tools/view/view.h"

/*
 * Chains are found by frame pointers. Where code has none but leaves the
 * register alone, the chain continues with the caller of its caller. Where code
 * uses the register for something else, the chain ends.
 */
enum ppi_chain_end {
	PPI_CHAIN_WHOLE, /* or nothing speaks against it */
	PPI_CHAIN_LEAF,  /* only the caller of the sampled function is missing:
	                  * others of its module have frames */
	PPI_CHAIN_SKIPS, /* callers are missing in it */
	PPI_CHAIN_CUT,   /* at the limit of depth, or where the stack was not
	                  * in memory */
	PPI_CHAIN_ENDS   /* before the beginning of the program or thread */
};

struct ppi_chain {
	enum ppi_chain_end end;
	size_t depth;         /* of it that is code */
	/* Without frame pointers: the module, and of a leaf the function. NULL
	 * where no code is to blame. */
	const char *module, *function;
	bool keeps_leaf_frames; /* its compiler can: -mno-omit-leaf-... */
	/* Of one by frame tables that is cut: enum portprof_chain_end. */
	unsigned reason;
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
	uint64_t leaving, skipping, cut, ending;
	struct ppi_nameless_list modules; /* whose code it is */
	struct ppi_nameless_list leaves;  /* functions */
	bool is_unwound; /* by frame tables; then, why those are cut that are,
	                  * and in which module */
	struct ppi_nameless_list reasons[PORTPROF_CHAIN_LEAVES_OUT + 1];
	unsigned stack_bytes;             /* that were copied with a sample */
	bool keeps_leaf_frames;           /* some compiler of theirs can */
};

/* False when out of memory. */
bool ppi_chains_sum(const struct ppi_view *view, struct ppi_chains *chains);
void ppi_chains_free(struct ppi_chains *chains);

#endif
