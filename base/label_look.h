/* SPDX-License-Identifier: MIT */
/*
 * A look at a store of labels, of this or another process: which set a thread was
 * in at some time. The process writes there meanwhile, and may be hostile: nothing
 * in it is believed further than the memory goes.
 */
#ifndef PPI_LABEL_LOOK_H
#define PPI_LABEL_LOOK_H

#include "base/label_store.h"

struct ppi_label_ring {
	uint64_t offset;
	uint32_t log2;
	struct ppi_label_change *changes;
};

struct ppi_label_look {
	struct ppi_label_store *store;
	int fd;         /* -1: there are no rings */
	uint64_t bytes; /* of the file */
	bool is_watched, is_mapped;
	bool is_anothers; /* not opened: what the process has is not its own */
	struct ppi_label_ring *rings; /* one a thread */
};

/* The store of this process, or that another copy of the library in it made. False
 * where no set was made yet. */
bool ppi_label_look_own(struct ppi_label_look *look);

/* Another process's. False where it has none, or it cannot be read. */
bool ppi_label_look_open(struct ppi_label_look *look, uint32_t pid);
/* The same by a descriptor that the process sent, which is taken. */
bool ppi_label_look_take(struct ppi_label_look *look, uint32_t pid, int fd);
void ppi_label_look_close(struct ppi_label_look *look);

/* Times are kept from now on. */
void ppi_label_look_watch(struct ppi_label_look *look);

/* The number of the set of a thread at a time, CLOCK_MONOTONIC. */
uint32_t ppi_label_look_find(struct ppi_label_look *look, int64_t tid,
                             uint64_t time_ns);

/*
 * The set that a thread is in. Two that are alike, of the same thread, say that it was in no
 * other set between them.
 */
struct ppi_label_state {
	uint64_t store;   /* whose sets; 0: the process has none */
	uint64_t changes; /* how often it changed sets; 0: it was in none yet */
	uint32_t set;
};

/* It may change at any time. */
void ppi_label_look_now(const struct ppi_label_look *look, int64_t tid,
                        struct ppi_label_state *out);

/* Whether the store is of the program that runs now: a process that has executed
 * another one since has the same number. False, too, where nobody can know. */
bool ppi_label_look_is_current(const struct ppi_label_look *look, uint32_t pid);

#endif
