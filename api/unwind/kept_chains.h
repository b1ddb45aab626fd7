/* SPDX-License-Identifier: MIT */
/* The last chain of each thread that a sample may have again: a wait has one
 * chain however often its weight is told. */
#ifndef PPI_KEPT_CHAINS_H
#define PPI_KEPT_CHAINS_H

#include "backends/backend.h"

struct ppi_kept_chain;

/* All zero is empty. */
struct ppi_kept_chains {
	struct ppi_kept_chain *by_thread; /* uthash */
	size_t ended; /* of threads that have ended: weight may still come */
	bool has_sets; /* samples say in which set of labels they fell, or in none */
};

/* After chains were found: keep those that say so (PPI_FIELD_KEEP), and give them
 * to the samples that want them (PPI_FIELD_AGAIN); without memory, or where none
 * was kept, such a sample has none. */
void ppi_kept_chains_take(struct ppi_kept_chains *chains,
                          struct ppi_room *room);
void ppi_kept_chains_free(struct ppi_kept_chains *chains);

#endif
