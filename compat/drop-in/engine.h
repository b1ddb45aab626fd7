/* SPDX-License-Identifier: MIT */
/*
 * The one session under all drop-in functions. Each function that can be on
 * is a client of it: which text it counts, and what becomes of a sample.
 *
 * A client is changed between ppi_engine_begin and ppi_engine_end only: then
 * no sample reaches a client, and all that was sampled before has.
 */
#ifndef PPI_ENGINE_H
#define PPI_ENGINE_H

#include "compat/drop-in/client.h"
#include "compat/drop-in/store.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* goes_on: the caller will leave a client on. Sampling then need not stop,
 * and no thread's time is lost while this one waits for a CPU. False in the
 * child of a vfork, which must change nothing. */
bool ppi_engine_begin(bool goes_on);

/*
 * Go on with all clients that are on, `client` among them or not. 0, or -1 and
 * errno when that cannot be: then `client` is off. What went wrong is told on
 * standard error, once.
 */
int ppi_engine_end(struct ppi_client *client);

/* Ticks of this rate; the first comes after half of its time, so that sums are
 * rounded and not cut. A rate that does not change keeps what is carried. */
void ppi_client_set_rate(struct ppi_client *client, unsigned hz);

/* The whole ticks that the weight makes, with what was left of the last. */
uint64_t ppi_client_ticks(struct ppi_client *client, uint64_t weight_ns);

/* For a client's take: pages of the program that can be written. */
struct ppi_pages *ppi_engine_pages(void);

/* Close the session, as if no client had ever been on; for tests. */
void ppi_engine_forget(void);

#endif
