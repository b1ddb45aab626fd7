/* SPDX-License-Identifier: MIT */
/* From a backend's or helper's ppi_diag to the calling thread's last diag. */
#ifndef PPI_DIAG_H
#define PPI_DIAG_H

#include "backends/backend.h"

/* Store as the thread's last diagnostic and return its status: the last line
 * of every public function that fails. */
portprof_status ppi_report(const struct ppi_diag *why);

/* The two in one step, for failures found in a public function itself. */
portprof_status ppi_refuse(portprof_status status, const char *step,
                           const char *words, ...)
	__attribute__((format(printf, 3, 4)));

/* E_INVALID for a NULL argument, naming the function and the argument. */
portprof_status ppi_refuse_null(const char *function, const char *argument);

#endif
