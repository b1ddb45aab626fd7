/* SPDX-License-Identifier: MIT */
/* Somebody else's process or thread, watched until it ends. */
#ifndef PPI_WATCH_H
#define PPI_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct ppi_watch {
	int64_t id;
	bool is_thread;
	uint64_t began; /* when it did: tells it from a later one of its id */
};

/* Begin to watch. False when there is none, or it has ended and its parent
 * has not asked for its status yet, or /proc does not show it: with words. */
bool ppi_watch_begin(struct ppi_watch *watch, int64_t id, bool is_thread);

/* The same without words, for a process. */
bool ppi_watch_try(struct ppi_watch *watch, int64_t pid);

bool ppi_watch_has_ended(const struct ppi_watch *watch);

/* Whether there is such a process, and it has not ended. */
bool ppi_process_runs(int64_t pid);

/* The name of a process or thread, in `name`; "" when it has none. */
const char *ppi_watch_name(const struct ppi_watch *watch, char name[64]);

#endif
