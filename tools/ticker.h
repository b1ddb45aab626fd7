/* SPDX-License-Identifier: MIT */
/* What takes long, on a terminal: reading, naming, writing. */
#ifndef PPI_TICKER_H
#define PPI_TICKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * A thread renews the line, because reading is one call of the library. Where
 * stderr is no terminal there is neither a line nor a thread. `doing` must
 * live until the end. False where there is none, or another one's line is
 * there, which stays.
 */
bool ppi_ticker_begin(const char *doing, const char *unit);

/* Counts what is done, of how many; from any thread. */
extern atomic_uint_fast64_t ppi_ticker_done, ppi_ticker_all;

/* Take the line away, if it is one's own: what ppi_ticker_begin returned. */
void ppi_ticker_end(bool is_begun);

#endif
