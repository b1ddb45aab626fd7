/* SPDX-License-Identifier: MIT */
/* What names the code that a process makes while running. */
#ifndef PPI_REPORT_MADE_H
#define PPI_REPORT_MADE_H

#include <portprof.h>

/* What to start the runtime with, by the names of the process' threads; for
 * pid 0 and others that nobody knows, what works for all. A constant, the same
 * for the same advice. */
const char *ppi_made_advice(const portprof_profile *profile, uint32_t pid);

#endif
