/* SPDX-License-Identifier: MIT */
/* How to start a runtime so that the code which it makes has names: advice. */
#ifndef PPI_REPORT_ADVICE_H
#define PPI_REPORT_ADVICE_H

#include <portprof.h>

/* What to start the runtime with, by the names of the process' threads; for
 * pid 0 and others that nobody knows, what works for all. A constant, the same
 * for the same advice. */
const char *ppi_runtime_advice(const portprof_profile *profile, uint32_t pid);

#endif
