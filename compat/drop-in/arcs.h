/* SPDX-License-Identifier: MIT */
/* Counts of calls by caller and callee, which mcount collects in any thread. */
#ifndef PPI_ARCS_H
#define PPI_ARCS_H

#include "api/profile/gmon/gmon.h"

/* Room for calls of this much text; false when out of memory. All counts
 * begin at 0. */
bool ppi_arcs_begin(uint64_t text_bytes);
void ppi_arcs_set(bool on);

/* One call: `from` is where it returns to, `self` lies in who was called. No
 * lock, nothing allocated, only general registers: it runs where a function
 * begins. */
void ppi_arcs_count(uintptr_t from, uintptr_t self);

/* What was counted; *arcs is to be freed, NULL when there is none or no
 * memory. `lost` tells how many calls found no room. */
size_t ppi_arcs_take(struct ppi_gmon_arc **arcs, uint64_t *lost);

#endif
