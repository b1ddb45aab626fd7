/* SPDX-License-Identifier: MIT */
/* Bins of a counting kernel as records. */
#ifndef PPI_PCGIVE_H
#define PPI_PCGIVE_H

#include "backends/backend.h"
#include "backends/common/pcbins.h"
#include "backends/common/pcregion.h"
#include "backends/common/tickweight.h"

/* A record for each bin that is not empty, with its part of the batch that
 * `weight` is at; as many as there is room for, the others stay. */
void ppi_pcgive(struct ppi_pcbins *bins, const struct ppi_pcregion *region,
                struct ppi_tickweight *weight, struct ppi_room *room);

#endif
