/* SPDX-License-Identifier: MIT */
/* Rings of ticks, with or without the stacks they fell on. */
#include "backends/common/tick_ring.h"

#include <stdlib.h>
#include <string.h>

_Static_assert((int)PPI_CONTEXT_REGISTERS == (int)PPI_REGISTERS,
               "registers are written in place");

/* What a tick with a stack is in the stream; the stack follows. */
struct stacked {
	struct ppi_tick tick;
	struct ppi_user_context context;
};

_Static_assert(sizeof(struct stacked) % 8 == 0 &&
               sizeof(struct stacked) <= 1024,
               "the stack is aligned, and 63 KiB of it are a message");

/* ---- memory ---- */

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

/* ---- in signal context ---- */

static bool put_stacked(struct ppi_tick_ring *ring, const struct ppi_tick *tick,
                        bool is_first_thread, const void *context)
{
	struct ppi_stack_part runs, interrupted;
	struct stacked *message;

	ppi_context_stacks(&ring->bounds, context, is_first_thread,
	                   ring->stack_bytes, &runs, &interrupted);
	message = ppi_stream_begin(&ring->stacks, sizeof(*message) +
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
	ppi_stream_end(message);
	return true;
}

bool ppi_tick_ring_put(struct ppi_tick_ring *ring, const struct ppi_tick *tick,
                       bool is_first_thread, const void *context)
{
	return ring->stack_bytes
		? put_stacked(ring, tick, is_first_thread, context)
		: ppi_pcring_put(&ring->ticks, tick);
}

/* ---- the reader ---- */

static portprof_record record_of(const struct ppi_tick *tick, int64_t pid)
{
	return (portprof_record){
		.kind = PORTPROF_RECORD_SAMPLE,
		.valid = PORTPROF_FIELD_PID | PORTPROF_FIELD_TID |
		         PORTPROF_FIELD_TIME,
		.pid = (uint32_t)(tick->pid ? (int64_t)tick->pid : pid),
		.tid = (uint32_t)tick->tid,
		.time_ns = tick->time_ns,
		.address = tick->pc,
		.span = 1,
		.weight = tick->weight,
		.samples = 1,
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
		tick = ppi_pcring_peek(&ring->ticks);
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
	return ring->stack_bytes ? ppi_stream_head(&ring->stacks)
	                         : ppi_pcring_head(&ring->ticks);
}

size_t ppi_tick_ring_tail(const struct ppi_tick_ring *ring)
{
	return ring->stack_bytes ? ppi_stream_tail(&ring->stacks)
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
