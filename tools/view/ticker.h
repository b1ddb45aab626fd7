/* SPDX-License-Identifier: MIT */
/* What a report that takes long is doing, on a terminal. */
#ifndef PPI_TICKER_H
#define PPI_TICKER_H

#include <stdatomic.h>
#include <stdint.h>

/*
 * A thread renews the line, because reading is one call of the library. Where
 * stderr is no terminal there is neither a line nor a thread. `doing` must
 * live until the end.
 */
void ppi_ticker_begin(const char *doing, const char *unit);

/* Counts what is done, of how many; from any thread. */
extern atomic_uint_fast64_t ppi_ticker_done, ppi_ticker_all;

/* Take the line away; before anything is printed. */
void ppi_ticker_end(void);

#endif
