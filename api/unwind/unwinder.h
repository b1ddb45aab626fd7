/* SPDX-License-Identifier: MIT */
/*
 * Call chains from registers and a copy of the stack. Each frame is unwound by
 * the program's own tables (.eh_frame) where they have its code, and by the
 * frame pointer where they have none.
 */
#ifndef PPI_UNWINDER_H
#define PPI_UNWINDER_H

#include "api/unwind/unwinder_state.h"
#include "api/unwind/walk.h"

/* Whether unwinding by tables works here. `why` may be NULL; it gets words
 * that say what is missing. */
bool ppi_unwinder_has_tables(const char **why);

/* NULL when out of memory. */
struct ppi_unwinder *ppi_unwinder_new(const struct ppi_machine *machine);
void ppi_unwinder_free(struct ppi_unwinder *unwinder);

/* From now on follow frame pointers alone. How a chain ends is not told then:
 * code that keeps none is skipped, and nobody sees it. */
void ppi_unwinder_leave_tables(struct ppi_unwinder *unwinder);

/* What a record says of address spaces: MODULE, THREAD, FORK, EXIT. */
void ppi_unwinder_note(struct ppi_unwinder *unwinder,
                       const portprof_batch *batch,
                       const portprof_record *record);

/* Look at all records of `room` in order; samples that carry registers and a
 * stack carry a chain afterwards, at most `depth` addresses long. */
void ppi_unwinder_take(struct ppi_unwinder *unwinder, struct ppi_room *room,
                       unsigned depth);

/* For -v and tests. */
void ppi_unwinder_stats_get(const struct ppi_unwinder *unwinder,
                            struct ppi_unwinder_stats *stats);

#endif
