/* SPDX-License-Identifier: MIT */
/*
 * Whose work each thread of a process does: the *store*, memory where the threads
 * leave the number of the set of labels that they are in, and the sets their texts.
 * Signal handlers read it, and so do recorders in other processes: on Linux it is a
 * memfd named portprof_labels. It holds no pointer.
 *
 * A handler wants the set of its thread now. A recorder whose kernel sampled wants
 * the one of a moment ago: while somebody asks for times each thread keeps a ring
 * of its changes, and a sample's time finds the set.
 */
#ifndef PPI_LABEL_STORE_H
#define PPI_LABEL_STORE_H

#include "base/label_memory.h"

/* ---- the store of this process ---- */

/* Make it; threads may be in sets from then on. False: there is no memory. May be
 * called again. Not in signal handlers. */
bool ppi_label_store_make(void);

/* The one that handlers read; NULL: no set was ever made here. */
struct ppi_label_store *ppi_label_store_own(void);

/* Where this copy of the library has none, another one's in this process: what
 * handlers read from now on. */
void ppi_label_store_adopt(struct ppi_label_store *store);

/* Give a set a number, and its text a place: keys and values, each with its zero
 * byte. PPI_LABELS_OTHER when there is no room. Any thread. */
uint32_t ppi_label_store_add(const char *text, size_t bytes);

/* A set's text; NULL when it has none yet, or what is there makes no sense. */
const char *ppi_label_store_text(const struct ppi_label_store *store,
                                 uint32_t number, size_t *bytes);

/* A first change, one in a child, or one whose time is wanted. Returns `answer`. */
const void *ppi_label_change_slowly(uint32_t number, const void *answer);

/* The calling thread is in that set from now on. Async-signal-safe; while no times are
 * kept it takes little more than a call. Who returns the answer, too, ends with a jump,
 * and saves no register of its caller's. */
static inline const void *ppi_label_change(uint32_t number, const void *answer)
{
	const struct ppi_label_mine *mine = &ppi_label_mine;
	struct ppi_label_thread *slot = atomic_load_explicit(
		&mine->slot, memory_order_relaxed);

	if (!slot || !*mine->is_here ||
	    atomic_load_explicit(&mine->store->timed_from,
	                         memory_order_relaxed) != 0)
		return ppi_label_change_slowly(number, answer);
	ppi_label_put(slot, number);
	return answer;
}

/* The set of a thread of this process, for its signal handler. Async-signal-safe. */
uint32_t ppi_label_now(int64_t tid);

/* The same for who reads texts from the parent alone: sets that a forked child has
 * made since have no text there. Async-signal-safe. */
uint32_t ppi_label_of_heir(uint32_t number);

/* Keep times from now on, with one more who wants them; and with one fewer. */
void ppi_label_store_watch(struct ppi_label_store *store);
void ppi_label_store_unwatch(struct ppi_label_store *store);

/* The same for the store of this process, also one that is not there yet. */
void ppi_label_times_begin(void);
void ppi_label_times_end(void);

#endif
