/* SPDX-License-Identifier: MIT */
/*
 * A bounded ring of ticks: signal handlers of any thread put them in, one
 * reader takes them out. Nothing here blocks, and a put never allocates.
 */
#ifndef PPI_PCRING_H
#define PPI_PCRING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a handler knows of one tick. */
struct ppi_tick {
	uint64_t pc;
	uint64_t time_ns;
	uint64_t weight;
	int64_t tid;
};

/*
 * A cell's turn says whose it is: equal to a position of the writers, it is
 * free for that position; one more, it holds that position's tick. Positions
 * are size_t, which every machine can exchange without a lock; they wrap.
 */
struct ppi_pcring_cell {
	_Atomic size_t turn;
	struct ppi_tick tick;
};

struct ppi_pcring {
	struct ppi_pcring_cell *cells;
	size_t mask;
	size_t tail;            /* the reader's */
	size_t dropped_seen;    /* the reader's */
	uint64_t dropped_total; /* the reader's */
	/* written by handlers: away from what only the reader touches */
	char apart[64];
	_Atomic size_t head;
	_Atomic size_t dropped;
};

/* The number of cells is rounded up to a power of two. False when out of
 * memory. Freeing a zeroed ring does nothing. */
bool ppi_pcring_init(struct ppi_pcring *ring, size_t cells);
void ppi_pcring_free(struct ppi_pcring *ring);

/* Put a tick in; false when the ring was full: it is counted as dropped.
 * Async-signal-safe, any number of threads at once. */
bool ppi_pcring_put(struct ppi_pcring *ring, const struct ppi_tick *tick);

/* Take the oldest tick out; false when there is none. One thread at a time. */
bool ppi_pcring_take(struct ppi_pcring *ring, struct ppi_tick *tick);

/* Ticks dropped since init, exactly. Same caller as _take; often enough that
 * fewer than SIZE_MAX are dropped in between. */
uint64_t ppi_pcring_dropped(struct ppi_pcring *ring);

#endif
