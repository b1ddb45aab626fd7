/* SPDX-License-Identifier: MIT */
/* Rings that handlers of timer signals fill: of messages, of ticks, and of
 * either as backends use them, with the stacks that ticks fell on. */
#include "backends/common/tick_ring.h"

#include <stdlib.h>
#include <string.h>

/* ---- messages of any length, many writers and one reader ---- */

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

/* A message that the caller fills in its place; NULL: there is no room. From
 * stream_end on it can be read. Async-signal-safe. */
static void *stream_begin(struct ppi_stream *stream, size_t bytes)
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

static void stream_end(void *message)
{
	struct message *head = (struct message *)message - 1;

	atomic_store_explicit(&head->state, WHOLE, memory_order_release);
}

bool ppi_stream_put(struct ppi_stream *stream, const void *head,
                    size_t head_bytes, const void *body, size_t body_bytes)
{
	char *message = stream_begin(stream, head_bytes + body_bytes);

	if (!message)
		return false;
	memcpy(message, head, head_bytes);
	if (body_bytes)
		memcpy(message + head_bytes, body, body_bytes);
	stream_end(message);
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

/* Where the next message will go, and the oldest one is. */
static size_t stream_head(const struct ppi_stream *stream)
{
	return atomic_load(&stream->memory->head);
}

static size_t stream_tail(const struct ppi_stream *stream)
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

/* ---- ticks alone, many writers and one reader ---- */

/* A lock inside an atomic would be one inside a signal handler. */
_Static_assert(ATOMIC_LONG_LOCK_FREE == 2 && sizeof(size_t) <= sizeof(long),
               "positions need lock-free atomics");

static size_t bytes_of(size_t cells)
{
	return sizeof(struct ppi_pcring_memory) +
	       cells * sizeof(struct ppi_pcring_cell);
}

static size_t round_up(size_t cells)
{
	size_t count = 2;

	while (count < cells)
		count *= 2;
	return count;
}

size_t ppi_pcring_bytes(size_t cells)
{
	return bytes_of(round_up(cells));
}

bool ppi_pcring_init(struct ppi_pcring *ring, size_t cells)
{
	size_t count = round_up(cells);

	memset(ring, 0, sizeof(*ring));
	ring->memory = calloc(1, bytes_of(count));
	ring->mask = count - 1;
	return ring->memory != NULL;
}

void ppi_pcring_read_from(struct ppi_pcring *ring, void *memory, size_t bytes)
{
	size_t count = 2;

	while (bytes_of(2 * count) <= bytes)
		count *= 2;
	memset(ring, 0, sizeof(*ring));
	ring->memory = memory;
	ring->mask = count - 1;
}

void ppi_pcring_write_to(struct ppi_pcring *ring, void *memory, size_t bytes)
{
	ppi_pcring_read_from(ring, memory, bytes);
	ring->is_foreign = true;
}

void ppi_pcring_free(struct ppi_pcring *ring)
{
	if (!ring->is_foreign)
		free(ring->memory);
	memset(ring, 0, sizeof(*ring));
}

static struct ppi_pcring_cell *cell_at(const struct ppi_pcring *ring,
                                       size_t position)
{
	return &ring->memory->cells[position & ring->mask];
}

static size_t turn_of(const struct ppi_pcring *ring, size_t position)
{
	return atomic_load_explicit(&cell_at(ring, position)->turn,
	                            memory_order_acquire) +
	       (position & ring->mask);
}

static void set_turn(struct ppi_pcring *ring, size_t position, size_t turn)
{
	atomic_store_explicit(&cell_at(ring, position)->turn,
	                      turn - (position & ring->mask),
	                      memory_order_release);
}

/*
 * The free cell at the writers' head, which becomes the caller's: false when
 * the ring is full. A head read too early cannot look like "full": by then
 * the cell's turn is past it.
 */
static bool claim_cell(struct ppi_pcring *ring, size_t *position)
{
	_Atomic size_t *at = &ring->memory->head;
	size_t head = atomic_load_explicit(at, memory_order_relaxed);

	for (;;) {
		size_t turn = turn_of(ring, head);

		if ((ptrdiff_t)(turn - head) < 0)
			return false;
		if (turn != head) {
			head = atomic_load_explicit(at, memory_order_relaxed);
		} else if (atomic_compare_exchange_weak_explicit(
				   at, &head, head + 1, memory_order_relaxed,
				   memory_order_relaxed)) {
			*position = head;
			return true;
		}
	}
}

bool ppi_pcring_put(struct ppi_pcring *ring, const struct ppi_tick *tick)
{
	size_t position;

	if (!claim_cell(ring, &position)) {
		atomic_fetch_add_explicit(&ring->memory->dropped, 1,
		                          memory_order_relaxed);
		return false;
	}
	cell_at(ring, position)->tick = *tick;
	set_turn(ring, position, position + 1);
	return true;
}

static void pass_tail(struct ppi_pcring *ring)
{
	set_turn(ring, ring->tail, ring->tail + ring->mask + 1);
	ring->tail++;
}

/* The oldest tick, which stays where it is; NULL: there is none. A writer that
 * has claimed its cell and not filled it yet holds up the reader, never other
 * writers. */
static const struct ppi_tick *ring_peek(const struct ppi_pcring *ring)
{
	return turn_of(ring, ring->tail) == ring->tail + 1
		? &cell_at(ring, ring->tail)->tick : NULL;
}

bool ppi_pcring_take(struct ppi_pcring *ring, struct ppi_tick *tick)
{
	const struct ppi_tick *oldest = ring_peek(ring);

	if (!oldest)
		return false;
	*tick = *oldest;
	pass_tail(ring);
	return true;
}

/* Where the next tick will go. */
static size_t ring_head(const struct ppi_pcring *ring)
{
	return atomic_load_explicit(&ring->memory->head, memory_order_acquire);
}

bool ppi_pcring_skip(struct ppi_pcring *ring)
{
	if (ring_head(ring) == ring->tail ||
	    turn_of(ring, ring->tail) == ring->tail + 1)
		return false;
	pass_tail(ring);
	return true;
}

uint64_t ppi_pcring_dropped(struct ppi_pcring *ring)
{
	size_t now;

	if (ring->is_foreign)
		return 0;
	now = atomic_load_explicit(&ring->memory->dropped,
	                           memory_order_relaxed);
	ring->dropped_total += now - ring->dropped_seen;
	ring->dropped_seen = now;
	return ring->dropped_total;
}

/* ---- either: memory ---- */

_Static_assert((int)PPI_CONTEXT_REGISTERS == (int)PPI_REGISTERS,
               "registers are written in place");

/* What a tick with a stack is in the stream; the stack follows. */
struct stacked {
	_Alignas(8) struct ppi_tick tick; /* i386 aligns 64 bits to 4 bytes */
	struct ppi_user_context context;
};

_Static_assert(sizeof(struct stacked) % 8 == 0 &&
               sizeof(struct stacked) <= 1024,
               "the stack is aligned, and 63 KiB of it are a message");

/* Most stacks are short: each takes a quarter of what a copy may have. One
 * message has up to a quarter of a stream. */
static size_t stream_size(const struct ppi_tick_ring_size *size)
{
	size_t message = sizeof(struct stacked) + size->stack_bytes + 64;
	size_t bytes = size->bytes, rounded = 64;

	if (!bytes)
		bytes = size->samples *
			(sizeof(struct stacked) + size->stack_bytes / 4);
	if (bytes < 4 * message)
		bytes = 4 * message;
	while (rounded < bytes)
		rounded *= 2;
	return rounded;
}

static size_t cells_of(const struct ppi_tick_ring_size *size)
{
	return size->bytes ? size->bytes / sizeof(struct ppi_pcring_cell)
	                   : size->samples;
}

size_t ppi_tick_ring_bytes(const struct ppi_tick_ring_size *size)
{
	return size->stack_bytes ? ppi_stream_bytes(stream_size(size))
	                         : ppi_pcring_bytes(cells_of(size));
}

void ppi_tick_ring_use(struct ppi_tick_ring *ring, size_t stack_bytes,
                       void *memory, size_t bytes, bool is_foreign)
{
	memset(ring, 0, sizeof(*ring));
	ring->stack_bytes = stack_bytes;
	ring->is_foreign = is_foreign;
	ppi_stack_bounds_learn(&ring->bounds);
	if (stack_bytes)
		ppi_stream_use(&ring->stacks, memory, bytes);
	else if (is_foreign)
		ppi_pcring_write_to(&ring->ticks, memory, bytes);
	else
		ppi_pcring_read_from(&ring->ticks, memory, bytes);
}

bool ppi_tick_ring_make(struct ppi_tick_ring *ring,
                        const struct ppi_tick_ring_size *size)
{
	size_t bytes = ppi_tick_ring_bytes(size);
	void *memory;

	memset(ring, 0, sizeof(*ring));
	if (!size->stack_bytes)
		return ppi_pcring_init(&ring->ticks, cells_of(size));
	memory = calloc(1, bytes);
	if (memory)
		ppi_tick_ring_use(ring, size->stack_bytes, memory, bytes,
		                  false);
	return memory != NULL;
}

void ppi_tick_ring_free(struct ppi_tick_ring *ring)
{
	ppi_pcring_free(&ring->ticks);
	if (!ring->is_foreign)
		free(ring->stacks.memory);
	memset(ring, 0, sizeof(*ring));
}

/* ---- either: in signal context ---- */

static bool put_stacked(struct ppi_tick_ring *ring, const struct ppi_tick *tick,
                        bool is_first_thread, const void *context)
{
	struct ppi_stack_part runs, interrupted;
	struct stacked *message;

	ppi_context_stacks(&ring->bounds, context, is_first_thread,
	                   ring->stack_bytes, &runs, &interrupted);
	message = stream_begin(&ring->stacks, sizeof(*message) +
	                       runs.bytes + interrupted.bytes);
	if (!message) {
		atomic_fetch_add_explicit(&ring->stacks.memory->dropped, 1,
		                          memory_order_relaxed);
		return false;
	}
	message->tick = *tick;
	message->context.known = ppi_context_registers(
		context, message->context.registers);
	message->context.stack_bytes = (uint32_t)runs.bytes;
	message->context.is_stack_all = runs.is_all;
	message->context.is_32_bit = false;
	message->context.interrupted_start = interrupted.start;
	message->context.interrupted_bytes = (uint32_t)interrupted.bytes;
	message->context.is_interrupted_all = interrupted.is_all;
	ppi_stack_copy(message + 1, runs.start, runs.bytes);
	ppi_stack_copy((char *)(message + 1) + runs.bytes, interrupted.start,
	               interrupted.bytes);
	stream_end(message);
	return true;
}

bool ppi_tick_ring_put(struct ppi_tick_ring *ring, const struct ppi_tick *tick,
                       bool is_first_thread, const void *context)
{
	return ring->stack_bytes
		? put_stacked(ring, tick, is_first_thread, context)
		: ppi_pcring_put(&ring->ticks, tick);
}

/* ---- either: the reader ---- */

static portprof_record record_of(const struct ppi_tick *tick, int64_t pid)
{
	return (portprof_record){
		.kind = PORTPROF_RECORD_SAMPLE,
		.valid = PORTPROF_FIELD_PID | PORTPROF_FIELD_TID |
		         PORTPROF_FIELD_TIME |
		         (tick->label_set ? PORTPROF_FIELD_LABELS : 0),
		.pid = (uint32_t)(tick->pid ? (int64_t)tick->pid : pid),
		.tid = (uint32_t)tick->tid,
		.time_ns = tick->time_ns,
		.address = tick->pc,
		.span = 1,
		.weight = tick->weight,
		.samples = 1,
		.label_set = tick->label_set,
	};
}

/* The message is in another process's hands: its stacks are believed to be as
 * large as they are. The record's chain is empty as yet: what is added is not in
 * it. */
static bool add_stacked(const struct stacked *message, size_t bytes,
                        int64_t pid, struct ppi_room *room)
{
	portprof_record record = record_of(&message->tick, pid);
	size_t payload = bytes - sizeof(message->tick);
	size_t most = bytes - sizeof(*message), at = room->word_count;
	struct ppi_user_context *context = (void *)(room->words + at);

	/* a copy that no room can take is of another plan */
	if ((payload + 7) / 8 > room->word_room)
		return ppi_room_add(room, &record, NULL, 0);
	record.valid |= PPI_FIELD_CONTEXT;
	if (!ppi_room_add(room, &record, &message->context, payload))
		return false;
	room->records[room->record_count - 1].payload_words = 0;
	if (context->stack_bytes > most)
		context->stack_bytes = (uint32_t)most;
	context->stack_bytes &= ~UINT32_C(7);
	most -= context->stack_bytes;
	if (context->interrupted_bytes > most)
		context->interrupted_bytes = (uint32_t)most;
	context->interrupted_bytes &= ~UINT32_C(7);
	context->caller_count = 0;
	return true;
}

static enum ppi_tick_moved move_stacked(struct ppi_tick_ring *ring, int64_t pid,
                                        struct ppi_room *room)
{
	size_t bytes;
	const struct stacked *message = ppi_stream_peek(&ring->stacks, &bytes);

	if (!message)
		return PPI_TICK_NONE;
	if (bytes >= sizeof(*message) &&
	    !add_stacked(message, bytes, pid, room))
		return PPI_TICK_NO_ROOM;
	ppi_stream_pass(&ring->stacks);
	return PPI_TICK_MOVED;
}

enum ppi_tick_moved ppi_tick_ring_move(struct ppi_tick_ring *ring, int64_t pid,
                                       struct ppi_room *room)
{
	portprof_record record;
	struct ppi_tick tick;

	if (room->record_count == room->record_room)
		return PPI_TICK_NO_ROOM;
	if (ring->stack_bytes)
		return move_stacked(ring, pid, room);
	if (!ppi_pcring_take(&ring->ticks, &tick))
		return PPI_TICK_NONE;
	record = record_of(&tick, pid);
	ppi_room_add(room, &record, NULL, 0);
	return PPI_TICK_MOVED;
}

struct ppi_tick ppi_tick_ring_next(struct ppi_tick_ring *ring)
{
	const struct ppi_tick none = { 0 }, *tick;
	const struct stacked *message;
	size_t bytes;

	if (!ring->stack_bytes) {
		tick = ring_peek(&ring->ticks);
		return tick ? *tick : none;
	}
	message = ppi_stream_peek(&ring->stacks, &bytes);
	return message && bytes >= sizeof(*message) ? message->tick : none;
}

bool ppi_tick_ring_skip(struct ppi_tick_ring *ring)
{
	return ring->stack_bytes ? ppi_stream_skip(&ring->stacks)
	                         : ppi_pcring_skip(&ring->ticks);
}

/* A ring of ticks is read to its end, or what cannot be is left out one by
 * one. */
void ppi_tick_ring_empty(struct ppi_tick_ring *ring)
{
	if (ring->stack_bytes)
		ppi_stream_empty(&ring->stacks);
}

size_t ppi_tick_ring_head(const struct ppi_tick_ring *ring)
{
	return ring->stack_bytes ? stream_head(&ring->stacks)
	                         : ring_head(&ring->ticks);
}

size_t ppi_tick_ring_tail(const struct ppi_tick_ring *ring)
{
	return ring->stack_bytes ? stream_tail(&ring->stacks)
	                         : ring->ticks.tail;
}

uint64_t ppi_tick_ring_dropped(struct ppi_tick_ring *ring)
{
	size_t now;

	if (ring->is_foreign)
		return 0;
	if (!ring->stack_bytes)
		return ppi_pcring_dropped(&ring->ticks);
	now = atomic_load_explicit(&ring->stacks.memory->dropped,
	                           memory_order_relaxed);
	ring->dropped_total += now - ring->dropped_seen;
	ring->dropped_seen = now;
	return ring->dropped_total;
}
