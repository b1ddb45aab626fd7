/* SPDX-License-Identifier: MIT */
/*
 * A bounded ring of ticks: signal handlers of any thread put them in, one
 * reader takes them out. Nothing here blocks, and a put never allocates.
 *
 * The ring's memory may be shared with another process, which is its reader
 * then: it holds no pointer, zeroed memory is an empty ring, and a writer that
 * was killed at any instruction leaves one that can be read and used again.
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
	int32_t pid; /* of a forked child; 0: the process whose ring it is */
	/* of such a child: how much farther from its CPU time its samples are
	 * by chance, in PPI_TICK_SQUARE-ths of a squared period */
	int32_t squares;
};
enum { PPI_TICK_SQUARE = 65536 };

/*
 * The turn of cell i, counted from i, says whose the cell is: equal to a
 * position of the writers, it is free for that position; one more, it holds
 * that position's tick. Positions are size_t, which every machine can exchange
 * without a lock; they wrap.
 */
struct ppi_pcring_cell {
	_Atomic size_t turn;
	struct ppi_tick tick;
};

/* What handlers write. */
struct ppi_pcring_memory {
	_Atomic size_t head;
	_Atomic size_t dropped;
	char apart[64 - 2 * sizeof(size_t)];
	struct ppi_pcring_cell cells[];
};

/* One process's view of it. */
struct ppi_pcring {
	struct ppi_pcring_memory *memory;
	size_t mask;
	bool is_foreign;        /* another process takes and counts */
	size_t tail;            /* the reader's */
	size_t dropped_seen;    /* the reader's */
	uint64_t dropped_total; /* the reader's */
};

/* The number of cells is rounded up to a power of two. False when out of
 * memory. Freeing a zeroed ring does nothing. */
bool ppi_pcring_init(struct ppi_pcring *ring, size_t cells);
void ppi_pcring_free(struct ppi_pcring *ring);

/* How much memory a ring of that many cells takes. */
size_t ppi_pcring_bytes(size_t cells);

/*
 * A ring in memory that another process reads: as many cells as it has room
 * for. Here it can only be put to; dropped ticks are the reader's to count.
 * The reader's view begins where memory was zeroed.
 */
void ppi_pcring_write_to(struct ppi_pcring *ring, void *memory, size_t bytes);
void ppi_pcring_read_from(struct ppi_pcring *ring, void *memory, size_t bytes);

/* Put a tick in; false when the ring was full: it is counted as dropped.
 * Async-signal-safe, any number of threads at once. */
bool ppi_pcring_put(struct ppi_pcring *ring, const struct ppi_tick *tick);

/* The oldest tick, which stays where it is; NULL: there is none. */
const struct ppi_tick *ppi_pcring_peek(const struct ppi_pcring *ring);

/* Take the oldest tick out; false when there is none. One thread at a time. */
bool ppi_pcring_take(struct ppi_pcring *ring, struct ppi_tick *tick);

/* All writers are dead: give up a cell that one of them had claimed and never
 * filled. False when there is none at the tail. */
bool ppi_pcring_skip(struct ppi_pcring *ring);

/* Where the next tick will go. */
size_t ppi_pcring_head(const struct ppi_pcring *ring);

/* Ticks dropped since init, exactly; 0 where another process counts them.
 * Same caller as _take; often enough that fewer than SIZE_MAX are dropped in
 * between. */
uint64_t ppi_pcring_dropped(struct ppi_pcring *ring);

#endif
