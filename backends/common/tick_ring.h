/* SPDX-License-Identifier: MIT */
/*
 * What handlers of timer signals leave for the reader: ticks, and where chains
 * are wanted with each the thread's registers and a copy of its stack. Both kinds
 * of ring bear a writer that is killed, and a reader in another process.
 */
#ifndef PPI_TICK_RING_H
#define PPI_TICK_RING_H

#include "backends/backend.h"
#include "backends/common/pcbins.h"
#include "backends/common/tick_ring.h"
#include "base/signal_context.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- ticks alone ---- */

/*
 * A bounded ring of ticks: signal handlers of any thread put them in, one
 * reader takes them out. Nothing here blocks, and a put never allocates.
 *
 * The ring's memory may be shared with another process, which is its reader
 * then: it holds no pointer, zeroed memory is an empty ring, and a writer that
 * was killed at any instruction leaves one that can be read and used again.
 */

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
	uint32_t label_set; /* of base/label_store.h */
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

/* Take the oldest tick out; false when there is none. One thread at a time. */
bool ppi_pcring_take(struct ppi_pcring *ring, struct ppi_tick *tick);

/* All writers are dead: give up a cell that one of them had claimed and never
 * filled. False when there is none at the tail. */
bool ppi_pcring_skip(struct ppi_pcring *ring);

/* Ticks dropped since init, exactly; 0 where another process counts them.
 * Same caller as _take; often enough that fewer than SIZE_MAX are dropped in
 * between. */
uint64_t ppi_pcring_dropped(struct ppi_pcring *ring);

/* ---- messages of any length ---- */

/*
 * A bounded ring of messages of any length, up to a quarter of its memory:
 * signal handlers of any thread put them in, one reader takes them out, which
 * may be another process. Like the ring of ticks it holds no pointer, and zeroed
 * memory is an empty stream.
 */

/* The longest message of the smallest stream that sessions share. */
enum { PPI_STREAM_MESSAGE_MAX = 65536 };

struct ppi_stream_memory {
	_Atomic size_t head;
	_Atomic size_t dropped; /* for who counts what finds no room */
	char apart[64 - 2 * sizeof(size_t)];
	_Atomic size_t tail;
	char apart_too[64 - sizeof(size_t)];
	uint64_t bytes[];
};

struct ppi_stream {
	struct ppi_stream_memory *memory;
	size_t size; /* of the bytes; a power of two */
};

/* How much memory a stream takes that has room for so many bytes, a power of
 * two. */
size_t ppi_stream_bytes(size_t size);
void ppi_stream_use(struct ppi_stream *stream, void *memory, size_t bytes);

/* A message in two parts. False when there was no room. Async-signal-safe. */
bool ppi_stream_put(struct ppi_stream *stream, const void *head,
                    size_t head_bytes, const void *body, size_t body_bytes);

/* The oldest message, in place until ppi_stream_pass; NULL when there is none
 * yet. One reader. */
const void *ppi_stream_peek(struct ppi_stream *stream, size_t *bytes);
void ppi_stream_pass(struct ppi_stream *stream);

/* All writers are dead, and peek has said NULL: leave out a message that one
 * of them had begun. False when none is left that can be found. */
bool ppi_stream_skip(struct ppi_stream *stream);

/* Nobody else is at it: forget what cannot be read any more. */
void ppi_stream_empty(struct ppi_stream *stream);

/* ---- either, as a backend has it ---- */

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
