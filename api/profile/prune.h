/* SPDX-License-Identifier: MIT */
/* Leaves out the frames that a file says are of no interest: drop_frames and
 * keep_frames of pprof's profile.proto. */
#ifndef PPI_FILE_PRUNE_H
#define PPI_FILE_PRUNE_H

#include "api/profile/model.h"

struct ppi_prune;

/* NULL where the file drops nothing, or its expression is none of regcomp(3),
 * which a note says. *is_memory: memory is out. */
struct ppi_prune *ppi_prune_open(portprof_profile *profile, bool *is_memory);
void ppi_prune_close(struct ppi_prune *prune);

/* The locations of a chain, leaf first, become those that stay: *count. False
 * when out of memory. */
bool ppi_prune_chain(struct ppi_prune *prune, uint32_t *locations,
                     size_t *count);

#endif
