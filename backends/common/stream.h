/* SPDX-License-Identifier: MIT */
/*
 * A bounded ring of messages of any length, up to a quarter of its memory:
 * signal handlers of any thread put them in, one reader takes them out, which
 * may be another process. Like pcring.h it holds no pointer, and zeroed memory
 * is an empty stream.
 */
#ifndef PPI_STREAM_H
#define PPI_STREAM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* A message that the caller fills in its place; NULL when there is no room. From
 * _end on it can be read. Async-signal-safe. */
void *ppi_stream_begin(struct ppi_stream *stream, size_t bytes);
void ppi_stream_end(void *message);

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

/* Where the next message will go, and the oldest one is. */
size_t ppi_stream_head(const struct ppi_stream *stream);
size_t ppi_stream_tail(const struct ppi_stream *stream);

/* Nobody else is at it: forget what cannot be read any more. */
void ppi_stream_empty(struct ppi_stream *stream);

#endif
