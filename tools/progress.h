/* SPDX-License-Identifier: MIT */
/* A progress line on a terminal, if the work takes longer than a second. */
#ifndef PPI_PROGRESS_H
#define PPI_PROGRESS_H

#include <stdint.h>

/*
 * The line appears on stderr when that is a terminal and a second has passed
 * since ppi_progress_begin, is renewed some times a second, and is gone after
 * ppi_progress_end. Everywhere else all of these do nothing. One at a time.
 */
void ppi_progress_begin(const char *doing);

/* How far it is; `all` 0 when that is not known: then `done` is only told. */
void ppi_progress_step(uint64_t done, uint64_t all, const char *unit);

/* Take the line away until the next step: something else is said. */
void ppi_progress_hide(void);

/* Take it away for good. */
void ppi_progress_end(void);

#endif
