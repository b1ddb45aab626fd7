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

#include <portprof/sink.h>

#include "compat/drop-in/store.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- clients, and the text of each ---- */

/* Text [start, end), told to bin_bytes, a power of two. */
struct ppi_span {
	uint64_t start, end;
	uint64_t bin_bytes;
};

struct ppi_client {
	/* One sample. It may turn the client off: samples then pass it by. In
	 * normal context, never two at once, not even of two clients. */
	void (*take)(struct ppi_client *client, uint64_t pc,
	             uint64_t weight_ns);
	const struct ppi_span *spans; /* NULL: the whole address space */
	size_t span_count;
	unsigned hz;                  /* ticks per second of CPU time */
	uint64_t carry;               /* part of a tick, in 1e-9 / hz */
	atomic_bool is_on;
	bool goes_on_in_child;        /* of fork */
	bool is_known;                /* the engine's: it is in its list */
	struct ppi_client *next;
};

/* ---- the engine ---- */

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

/* ---- the text of all clients, as the ranges of a session ---- */

/*
 * What all clients of the list that are on count: disjoint, at least one span.
 * *spans is to be freed. False when out of memory.
 */
bool ppi_spans_of(const struct ppi_client *clients, struct ppi_span **spans,
                  size_t *count);

/* Whether they are of somebody who counts everything. */
bool ppi_spans_are_whole(const struct ppi_span *spans, size_t count);

/* For portprof_config_add_range_callback. */
portprof_range ppi_span_range(const struct ppi_span *span);

/*
 * The span of `count` bins from `offset` on, `unit` bytes of text to a bin at
 * scale 65536. A scale of 0 puts everything into one bin. False when nothing
 * can be in it.
 */
bool ppi_span_make(struct ppi_span *span, uint64_t offset, uint64_t count,
                   uint64_t unit, uint32_t scale);

#endif
