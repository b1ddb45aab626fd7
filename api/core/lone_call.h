/* SPDX-License-Identifier: MIT */
/* What the wrappers of calls that mind other threads call: api/core/process.c. */
#ifndef PPI_LONE_CALL_H
#define PPI_LONE_CALL_H

#include <stdbool.h>

/*
 * Around a call that works as it should only in a process of one thread, or
 * where all threads have the same rights: sessions pause and the helper thread
 * ends; afterwards both go on. False: there was none, and then nothing is to
 * be called afterwards. errno is kept.
 */
bool ppi_before_lone_call(void);
void ppi_after_lone_call(void);

#endif
