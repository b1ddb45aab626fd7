/* SPDX-License-Identifier: MIT */
/*
 * Call chains from registers and a copy of the stack. Each frame is unwound by
 * the program's own tables (.eh_frame) where they have its code, and by the
 * frame pointer where they have none.
 */
#ifndef PPI_UNWIND_H
#define PPI_UNWIND_H

#include "api/unwind/machine.h"
#include "api/unwind/step.h"
#include "backends/backend.h"

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

/*
 * Unwind one stack of process `pid` into `chain`, leaf first; other addresses
 * are return addresses, or one more than an address that nobody called: what a
 * signal interrupted, and what its handler returns to. Returns how many, at least
 * 1, at most `room`, which is not 0.
 */
size_t ppi_unwinder_walk(struct ppi_unwinder *unwinder, uint32_t pid,
                         const struct ppi_registers *registers,
                         const struct ppi_stack *stack, uint64_t *chain,
                         size_t room, enum portprof_chain_end *end);

/* ---- how the chains of a session end, by weight ---- */

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
