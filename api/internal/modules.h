/* SPDX-License-Identifier: MIT */
/* The code that is mapped in this process, as MODULE records. */
#ifndef PPI_MODULES_H
#define PPI_MODULES_H

#include "backends/backend.h"

struct ppi_modules {
	struct ppi_module_seen *seen;
	size_t count, room;
	size_t told;               /* of seen, how many were emitted */
	unsigned long long adds, subs; /* the loader's counters at last scan */
};

/*
 * Look for code mapped since the last call. Takes the loader's lock: never in
 * a signal handler. Memory failures leave modules untold, not half told.
 */
void ppi_modules_scan(struct ppi_modules *modules);

/* Put what was not told yet into `room`. False when room was short. */
bool ppi_modules_tell(struct ppi_modules *modules, struct ppi_room *room);

void ppi_modules_free(struct ppi_modules *modules);

#endif
