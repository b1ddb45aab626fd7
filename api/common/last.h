/* SPDX-License-Identifier: MIT */
/* What the last calls of a thread have left for it. */
#ifndef PPI_LAST_H
#define PPI_LAST_H

#include <portprof/status.h>

#include "api/core/event.h"
#include "backends/backend.h"

struct ppi_last {
	portprof_diag diag;
	char reason[sizeof(((struct ppi_probe *)0)->reason)];
	struct ppi_event found; /* owns the strings of an event's info */
};

/* The calling thread's, all 0 at first: never NULL. Without memory, all threads that
 * got none share one. */
struct ppi_last *ppi_last(void);

#endif
