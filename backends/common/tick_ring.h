/* SPDX-License-Identifier: MIT */
/*
 * What handlers of timer signals leave for the reader: ticks, and where chains
 * are wanted with each the thread's registers and a copy of its stack. Both kinds
 * of ring bear a writer that is killed, and a reader in another process.
 */
#ifndef PPI_TICK_RING_H
#define PPI_TICK_RING_H

#include "backends/backend.h"
#include "backends/common/pcring.h"
#include "backends/common/stream.h"
#include "base/signal_context.h"

/* One process's view of it. */
struct ppi_tick_ring {
	size_t stack_bytes;       /* of each copy at most; 0 = ticks alone */
	struct ppi_pcring ticks;  /* those */
	struct ppi_stream stacks; /* or ticks with stacks */
	bool is_foreign;          /* another process takes and counts */
	struct ppi_stack_bounds bounds;
	size_t dropped_seen;      /* the reader's */
	uint64_t dropped_total;   /* the reader's */
};

/* How large a ring is to be. */
struct ppi_tick_ring_size {
	size_t stack_bytes;
	size_t samples; /* it has room for so many, */
	size_t bytes;   /* or, where this is not 0, takes so much memory */
};

/* How much memory it takes. */
size_t ppi_tick_ring_bytes(const struct ppi_tick_ring_size *size);

/* A ring in zeroed memory of that many bytes. With `is_foreign` it can only be
 * put to; what is dropped is counted by the process that reads. */
void ppi_tick_ring_use(struct ppi_tick_ring *ring, size_t stack_bytes,
                       void *memory, size_t bytes, bool is_foreign);

/* One of this process alone. False when out of memory. Freeing a zeroed ring
 * does nothing. */
bool ppi_tick_ring_make(struct ppi_tick_ring *ring,
                        const struct ppi_tick_ring_size *size);
void ppi_tick_ring_free(struct ppi_tick_ring *ring);

/*
 * Put in a tick of the calling thread, whose signal handler was given
 * `context`. False when there was no room: it is counted as dropped.
 * Async-signal-safe, any number of threads at once.
 */
bool ppi_tick_ring_put(struct ppi_tick_ring *ring, const struct ppi_tick *tick,
                       bool is_first_thread, const void *context);

/* Move the oldest into `room` as a sample. One thread at a time. */
enum ppi_tick_moved { PPI_TICK_NONE, PPI_TICK_MOVED, PPI_TICK_NO_ROOM };
enum ppi_tick_moved ppi_tick_ring_move(struct ppi_tick_ring *ring, int64_t pid,
                                       struct ppi_room *room);

/* The oldest tick, which stays there; all 0: there is none. */
struct ppi_tick ppi_tick_ring_next(struct ppi_tick_ring *ring);

/* All writers are dead: leave out what one of them had begun. False when there
 * is nothing of that kind. */
bool ppi_tick_ring_skip(struct ppi_tick_ring *ring);

/* Nobody else is at it, and it was read as far as it can be. */
void ppi_tick_ring_empty(struct ppi_tick_ring *ring);

/* Where the next one will go, and the oldest one is. */
size_t ppi_tick_ring_head(const struct ppi_tick_ring *ring);
size_t ppi_tick_ring_tail(const struct ppi_tick_ring *ring);

/* Dropped since the ring was made, exactly; 0 where another process counts
 * them. Same caller as _move. */
uint64_t ppi_tick_ring_dropped(struct ppi_tick_ring *ring);

#endif
