/* SPDX-License-Identifier: MIT */
/* monstartup() and its relatives, and mcount's counts: what programs built with
 * cc -pg call. */
#ifndef PPI_MONITOR_H
#define PPI_MONITOR_H

#include "api/profile/gmon/gmon.h"
#include "compat/drop-in/dialect.h"

/* Count ticks of [low, high), and calls where mcount is ours; from now on. */
void ppi_monstartup(const struct ppi_rules *rules, uint64_t low,
                    uint64_t high);
void ppi_moncontrol(bool on);

/* Stop and write the file. */
void ppi_mcleanup(void);

/* ---- calls by caller and callee, which mcount counts in any thread ---- */

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
