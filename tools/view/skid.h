/* SPDX-License-Identifier: MIT */
/* Kernel functions that get samples of what ran before them (skid). */
#ifndef PPI_REPORT_SKID_H
#define PPI_REPORT_SKID_H

#include <stdbool.h>

/* Whether a function of the kernel is one that lets interrupts in again. A
 * clock's interrupt that comes while they are off waits until there. */
bool ppi_lets_interrupts_in(const char *function);

#endif
