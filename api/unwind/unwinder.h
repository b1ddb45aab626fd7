/* SPDX-License-Identifier: MIT */
/*
 * Call chains from registers and a copy of the stack. Each frame is unwound by
 * the program's own tables (.eh_frame) where they have its code, and by the
 * frame pointer where they have none.
 */
#ifndef PPI_UNWINDER_H
#define PPI_UNWINDER_H

#include "api/unwind/machine.h"

/* Whether unwinding by tables works here. `why` may be NULL; it gets words
 * that say what is missing. */
bool ppi_unwinder_has_tables(const char **why);

struct ppi_unwinder;

/* NULL when out of memory. */
struct ppi_unwinder *ppi_unwinder_new(const struct ppi_machine *machine);
void ppi_unwinder_free(struct ppi_unwinder *unwinder);

/* From now on follow frame pointers alone. How a chain ends is not told then:
 * code that keeps none is skipped, and nobody sees it. */
void ppi_unwinder_leave_tables(struct ppi_unwinder *unwinder);

/*
 * Unwind one stack of process `pid` into `chain`, leaf first; other addresses
 * are return addresses, or one more than an address that nobody called: what a
 * signal interrupted, and what its handler returns to. Returns how many, at least 1, at most `room`, which is not 0.
 */
size_t ppi_unwinder_walk(struct ppi_unwinder *unwinder, uint32_t pid,
                         const struct ppi_registers *registers,
                         const struct ppi_stack *stack, uint64_t *chain,
                         size_t room, enum portprof_chain_end *end);

/* What a record says of address spaces: MODULE, THREAD, FORK, EXIT. */
void ppi_unwinder_note(struct ppi_unwinder *unwinder,
                       const portprof_batch *batch,
                       const portprof_record *record);

/* Look at all records of `room` in order; samples that carry registers and a
 * stack carry a chain afterwards, at most `depth` addresses long. */
void ppi_unwinder_take(struct ppi_unwinder *unwinder, struct ppi_room *room,
                       unsigned depth);

/* For -v and tests. */
struct ppi_unwinder_stats {
	uint64_t samples, cpu_ns; /* of ppi_unwinder_take */
	uint64_t frames, misses; /* rules that had to be looked up in tables */
	uint64_t modules;        /* whose tables were opened */
	uint64_t memory_bytes;   /* of the table of rules */
};
void ppi_unwinder_stats_get(const struct ppi_unwinder *unwinder,
                            struct ppi_unwinder_stats *stats);

#endif
