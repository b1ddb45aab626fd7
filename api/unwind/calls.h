/* SPDX-License-Identifier: MIT */
/* Whether code in front of an address calls: a return address follows one. */
#ifndef PPI_UNWIND_CALLS_H
#define PPI_UNWIND_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PPI_CALL_BEFORE = 8, PPI_CALL_AFTER = 16 }; /* bytes to look at */

/* Whether this is what a signal handler returns to: false of machines that are
 * not known. */
bool ppi_returns_by_signal(unsigned machine, const unsigned char *code,
                           size_t count);

/* Whether a function returns to bytes[at] of code of an ELF machine, `count`
 * bytes being known. True of machines that are not known. */
bool ppi_returns_to(unsigned machine, const unsigned char *bytes, size_t at,
                    size_t count);

#endif
