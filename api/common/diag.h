/* SPDX-License-Identifier: MIT */
/* What public functions end with: the calling thread's last diag, from a backend's or
 * helper's ppi_diag; structures copied out. */
#ifndef PPI_DIAG_H
#define PPI_DIAG_H

#include <stddef.h>

#include "backends/backend.h"

/* What the last calls of a thread have left for it. */
struct ppi_last {
	portprof_diag diag;
	char reason[sizeof(((struct ppi_probe *)0)->reason)];
	struct ppi_event found; /* owns the strings of an event's info */
};

/* The calling thread's, all 0 at first: never NULL. Without memory, all threads that
 * got none share one. */
struct ppi_last *ppi_last(void);

/* Store as the thread's last diagnostic and return its status: the last line
 * of every public function that fails. */
portprof_status ppi_report(const struct ppi_diag *why);

/* The two in one step, for failures found in a public function itself. */
portprof_status ppi_refuse(portprof_status status, const char *step,
                           const char *words, ...)
	__attribute__((format(printf, 3, 4)));

/* E_INVALID for a NULL argument, naming the function and the argument. */
portprof_status ppi_refuse_null(const char *function, const char *argument);

/*
 * Fill what the caller's leading size_t says from `full`, and what goes beyond
 * full_bytes with 0; the size stays as it is. E_INVALID when the caller's size cannot
 * hold even the size field: it was not filled in.
 */
portprof_status ppi_sized_copy(void *out, const void *full, size_t full_bytes,
                               const char *step);

#endif
