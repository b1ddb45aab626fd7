/* SPDX-License-Identifier: MIT */
/* How the chains of a session end, by weight. */
#ifndef PPI_CHAIN_ENDS_H
#define PPI_CHAIN_ENDS_H

#include "backends/backend.h"

enum { PPI_CHAIN_ENDS = PORTPROF_CHAIN_LEAVES_OUT + 1 };

/* Of event 0, whose samples have chains to be unwound. */
struct ppi_chain_ends {
	uint64_t weight[PPI_CHAIN_ENDS];
	char *note; /* the session's; NULL while there is none */
};

void ppi_chain_ends_count(struct ppi_chain_ends *ends,
                          const portprof_batch *batch);

/* Whether more than a hundredth of the weight is cut at the end of a copy. */
bool ppi_chain_ends_are_short(const struct ppi_chain_ends *ends);

/* Begin again: a note that there is says so, until samples come. */
void ppi_chain_ends_reset(struct ppi_chain_ends *ends);

/* Bring the session's note of it up to date. */
void ppi_chain_ends_say(struct ppi_chain_ends *ends,
                        struct ppi_backend_session *bs);

#endif
