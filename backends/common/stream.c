/* SPDX-License-Identifier: MIT */
/* A bounded ring of messages of any length, many writers and one reader. */
#include "backends/common/stream.h"

#include <string.h>

/*
 * Before each message, at an address that eight divides. Freed memory is
 * zeroed before writers may have it, so that a head is CLAIMED by nobody until
 * its writer says so. Of a writer that is killed between its claim of the
 * memory and that first store, two instructions, what lies behind it cannot be
 * found any more.
 */
struct message {
	_Atomic uint32_t state;
	uint32_t bytes;
};

enum { NOBODYS, CLAIMED, WHOLE, FILLER };

_Static_assert(sizeof(struct message) == 8 && ATOMIC_INT_LOCK_FREE == 2,
               "heads are written in signal handlers");

size_t ppi_stream_bytes(size_t size)
{
	return sizeof(struct ppi_stream_memory) + size;
}

void ppi_stream_use(struct ppi_stream *stream, void *memory, size_t bytes)
{
	size_t size = 64;

	while (ppi_stream_bytes(2 * size) <= bytes)
		size *= 2;
	stream->memory = memory;
	stream->size = size;
}

static char *at(const struct ppi_stream *stream, size_t position)
{
	return (char *)stream->memory->bytes + (position & (stream->size - 1));
}

/* With its head, and rounded up to the next one's address. */
static size_t length_of(size_t bytes)
{
	return (sizeof(struct message) + bytes + 7) & ~(size_t)7;
}

/* Room for a message in one piece: *position is where it begins, after a
 * filler of *filler bytes up to the end of the memory. */
static bool claim(struct ppi_stream *stream, size_t length, size_t *position,
                  size_t *filler)
{
	struct ppi_stream_memory *memory = stream->memory;
	size_t head = atomic_load(&memory->head), tail, rest;

	do {
		/* the tail first: it never passes a head that is read later */
		tail = atomic_load_explicit(&memory->tail,
		                            memory_order_acquire);
		head = atomic_load(&memory->head);
		rest = stream->size - (head & (stream->size - 1));
		*filler = rest < length ? rest : 0;
		if (head - tail + *filler + length > stream->size)
			return false;
	} while (!atomic_compare_exchange_weak(&memory->head, &head,
	                                       head + *filler + length));
	*position = head;
	return true;
}

static struct message *begin(struct ppi_stream *stream, size_t position,
                             size_t bytes, uint32_t state)
{
	struct message *message = (void *)at(stream, position);

	message->bytes = (uint32_t)bytes;
	atomic_store_explicit(&message->state, state, memory_order_release);
	return message;
}

void *ppi_stream_begin(struct ppi_stream *stream, size_t bytes)
{
	size_t position, filler;

	if (bytes > stream->size / 4 ||
	    !claim(stream, length_of(bytes), &position, &filler))
		return NULL;
	if (filler)
		begin(stream, position, filler - sizeof(struct message),
		      FILLER);
	return begin(stream, position + filler, bytes, CLAIMED) + 1;
}

void ppi_stream_end(void *message)
{
	struct message *head = (struct message *)message - 1;

	atomic_store_explicit(&head->state, WHOLE, memory_order_release);
}

bool ppi_stream_put(struct ppi_stream *stream, const void *head,
                    size_t head_bytes, const void *body, size_t body_bytes)
{
	char *message = ppi_stream_begin(stream, head_bytes + body_bytes);

	if (!message)
		return false;
	memcpy(message, head, head_bytes);
	if (body_bytes)
		memcpy(message + head_bytes, body, body_bytes);
	ppi_stream_end(message);
	return true;
}

static struct message *oldest(const struct ppi_stream *stream)
{
	return (void *)at(stream, atomic_load(&stream->memory->tail));
}

/* Before the memory is given to writers it is zeroed. */
void ppi_stream_pass(struct ppi_stream *stream)
{
	struct message *message = oldest(stream);
	size_t length = length_of(message->bytes);
	size_t tail = atomic_load(&stream->memory->tail);

	memset((void *)message, 0, length);
	atomic_store_explicit(&stream->memory->tail, tail + length,
	                      memory_order_release);
}

/* Memory that others write is believed no further than it goes. */
static bool is_inside(const struct ppi_stream *stream,
                      const struct message *message)
{
	size_t tail = atomic_load(&stream->memory->tail);
	size_t rest = stream->size - (tail & (stream->size - 1));

	return message->bytes <= rest - sizeof(*message);
}

const void *ppi_stream_peek(struct ppi_stream *stream, size_t *bytes)
{
	for (;;) {
		struct message *message = oldest(stream);
		uint32_t state = atomic_load_explicit(&message->state,
		                                      memory_order_acquire);

		if ((state != WHOLE && state != FILLER) ||
		    !is_inside(stream, message))
			return NULL;
		*bytes = message->bytes;
		if (state == WHOLE)
			return message + 1;
		ppi_stream_pass(stream);
	}
}

bool ppi_stream_skip(struct ppi_stream *stream)
{
	struct message *message = oldest(stream);

	if (atomic_load(&message->state) != CLAIMED ||
	    !is_inside(stream, message))
		return false;
	ppi_stream_pass(stream);
	return true;
}

size_t ppi_stream_head(const struct ppi_stream *stream)
{
	return atomic_load(&stream->memory->head);
}

size_t ppi_stream_tail(const struct ppi_stream *stream)
{
	return atomic_load(&stream->memory->tail);
}

/* What was passed is zeroed already. */
void ppi_stream_empty(struct ppi_stream *stream)
{
	struct ppi_stream_memory *memory = stream->memory;
	size_t head = atomic_load(&memory->head);

	if (head == atomic_load(&memory->tail))
		return;
	memset(memory->bytes, 0, stream->size);
	atomic_store(&memory->tail, head & ~(size_t)7);
	atomic_store(&memory->head, head & ~(size_t)7);
}
