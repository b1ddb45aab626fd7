/* SPDX-License-Identifier: MIT */
/* The weight of each sample, by a table of threads. */
#include "backends/perf/records/perf_weight.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 64 };

/* Fibonacci hashing: tids are dense, so any spread will do. */
static size_t home_of(const struct perf_weights *weights, uint32_t tid)
{
	return (size_t)(tid * UINT32_C(2654435769)) & (weights->room - 1);
}

static size_t slot_of(const struct perf_weights *weights, uint32_t tid)
{
	size_t at = home_of(weights, tid);

	while (weights->slots[at] && weights->slots[at]->tid != tid)
		at = (at + 1) & (weights->room - 1);
	return at;
}

bool ppi_perf_weights_init(struct perf_weights *weights, size_t event_count)
{
	memset(weights, 0, sizeof(*weights));
	weights->slots = calloc(FIRST_ROOM, sizeof(*weights->slots));
	weights->room = weights->slots ? FIRST_ROOM : 0;
	weights->event_count = event_count;
	return weights->slots != NULL;
}

void ppi_perf_tail_free(struct perf_tail *tail)
{
	struct perf_tail *next;

	for (; tail; tail = next) {
		next = tail->next;
		free(tail);
	}
}

static void free_thread(const struct perf_weights *weights,
                        struct perf_thread *thread)
{
	if (!thread)
		return;
	for (size_t i = 0; i < weights->event_count; i++)
		ppi_perf_tail_free(thread->progress[i].last);
	free(thread->streams);
	ppi_perf_tail_free(thread->tails);
	free(thread);
}

void ppi_perf_weights_free(struct perf_weights *weights)
{
	for (size_t i = 0; i < weights->room; i++)
		free_thread(weights, weights->slots[i]);
	free(weights->slots);
	free(weights->ended);
	memset(weights, 0, sizeof(*weights));
}

struct perf_thread *ppi_perf_weights_find(const struct perf_weights *weights,
                                          uint32_t tid)
{
	return weights->room ? weights->slots[slot_of(weights, tid)] : NULL;
}

/* Keep at most half of the slots in use. */
static bool grow(struct perf_weights *weights)
{
	struct perf_weights larger = *weights;

	if (weights->count < weights->room / 2)
		return true;
	larger.room = weights->room * 2;
	larger.slots = calloc(larger.room, sizeof(*larger.slots));
	if (!larger.slots)
		return false;
	for (size_t i = 0; i < weights->room; i++)
		if (weights->slots[i])
			larger.slots[slot_of(&larger, weights->slots[i]->tid)] =
				weights->slots[i];
	free(weights->slots);
	*weights = larger;
	return true;
}

struct perf_thread *ppi_perf_weights_add(struct perf_weights *weights,
                                         uint32_t tid)
{
	struct perf_thread *thread = ppi_perf_weights_find(weights, tid);

	if (thread)
		return thread;
	if (weights->count >= PERF_THREADS_MAX || !grow(weights))
		return NULL;
	thread = calloc(1, sizeof(*thread) + weights->event_count *
	                                     sizeof(thread->progress[0]));
	if (!thread)
		return NULL;
	thread->tid = tid;
	weights->slots[slot_of(weights, tid)] = thread;
	weights->count++;
	return thread;
}

/* NULL when it is not there. */
static struct perf_thread *take_out(struct perf_weights *weights, uint32_t tid)
{
	const size_t mask = weights->room - 1;
	struct perf_thread *thread = ppi_perf_weights_find(weights, tid);
	size_t hole, at;

	if (!thread)
		return NULL;
	hole = slot_of(weights, tid);
	weights->slots[hole] = NULL;
	weights->count--;
	/* Move up those that had to go past the hole to find a place. */
	for (at = (hole + 1) & mask; weights->slots[at]; at = (at + 1) & mask) {
		size_t home = home_of(weights, weights->slots[at]->tid);

		if (((at - home) & mask) < ((at - hole) & mask))
			continue;
		weights->slots[hole] = weights->slots[at];
		weights->slots[at] = NULL;
		hole = at;
	}
	return thread;
}

void ppi_perf_weights_end(struct perf_weights *weights, uint32_t tid)
{
	free_thread(weights, take_out(weights, tid));
}

void ppi_perf_weights_exec(struct perf_weights *weights, uint32_t pid)
{
	struct perf_thread *first = ppi_perf_weights_find(weights, pid);
	struct perf_thread *other = NULL;

	if (first && !first->is_ended)
		return;
	for (size_t i = 0; i < weights->room; i++) {
		struct perf_thread *thread = weights->slots[i];

		if (thread && thread != first && thread->pid == pid &&
		    !thread->is_ended)
			other = thread;
	}
	if (!other)
		return;
	ppi_perf_weights_end(weights, pid);
	take_out(weights, other->tid);
	other->tid = pid;
	weights->slots[slot_of(weights, pid)] = other;
	weights->count++;
}

void ppi_perf_weights_end_later(struct perf_weights *weights, uint32_t tid)
{
	struct perf_thread *thread = ppi_perf_weights_find(weights, tid);
	uint32_t *larger;
	size_t room;

	if (!thread || thread->is_ended)
		return;
	if (weights->ended_count == weights->ended_room) {
		room = weights->ended_room ? weights->ended_room * 2 : 64;
		larger = realloc(weights->ended, room * sizeof(*larger));
		if (!larger) {
			ppi_perf_weights_end(weights, tid);
			return;
		}
		weights->ended = larger;
		weights->ended_room = room;
	}
	thread->is_ended = true;
	weights->ended[weights->ended_count++] = tid;
}

void ppi_perf_weights_begin(struct perf_weights *weights, uint32_t tid)
{
	const struct perf_thread *thread = ppi_perf_weights_find(weights, tid);

	if (thread && thread->is_ended)
		ppi_perf_weights_end(weights, tid);
}

void ppi_perf_weights_forget_ended(struct perf_weights *weights)
{
	for (size_t i = 0; i < weights->ended_count; i++)
		ppi_perf_weights_begin(weights, weights->ended[i]);
	weights->ended_count = 0;
}

static struct perf_stream *find_stream(struct perf_thread *thread, uint64_t id)
{
	for (size_t i = 0; i < thread->stream_count; i++)
		if (thread->streams[i].id == id)
			return &thread->streams[i];
	return NULL;
}

static struct perf_stream *add_stream(struct perf_thread *thread,
                                      const struct perf_reading *reading)
{
	struct perf_stream *stream;

	if (thread->stream_count == thread->stream_room) {
		size_t room = thread->stream_room ? thread->stream_room * 2 : 2;

		stream = realloc(thread->streams, room * sizeof(*stream));
		if (!stream)
			return NULL;
		thread->streams = stream;
		thread->stream_room = room;
	}
	stream = &thread->streams[thread->stream_count++];
	stream->id = reading->id;
	stream->event = reading->event;
	stream->value = 0;
	return stream;
}

/* Counts do not go back: this is another thread under the same number, and
 * the record of the first one's end was lost. */
static void begin_again(struct perf_weights *weights,
                        struct perf_thread *thread)
{
	thread->stream_count = 0;
	thread->is_direct = false;
	thread->has_mixed_times = false;
	for (size_t i = 0; i < weights->event_count; i++)
		ppi_perf_tail_free(thread->progress[i].last);
	memset(thread->progress, 0,
	       weights->event_count * sizeof(thread->progress[0]));
}

bool ppi_perf_weights_take(struct perf_weights *weights,
                           const struct perf_reading *reading, uint64_t *weight)
{
	struct perf_thread *thread =
		ppi_perf_weights_add(weights, reading->tid);
	struct perf_progress *progress;
	struct perf_stream *stream;
	uint64_t reached;

	if (!thread)
		return false;
	thread->pid = reading->pid;
	stream = find_stream(thread, reading->id);
	if (stream && reading->value < stream->value) {
		begin_again(weights, thread);
		stream = NULL;
	}
	if (!stream)
		stream = add_stream(thread, reading);
	if (!stream)
		return false;
	progress = &thread->progress[reading->event];
	progress->counted += reading->value - stream->value;
	stream->value = reading->value;

	reached = progress->counted;
	if (reading->is_second && !progress->has_base) {
		progress->has_base = true;
		progress->base = progress->emitted;
	}
	if (reading->thread_time && !thread->has_mixed_times)
		reached = reading->thread_time +
		          (reading->is_second ? progress->base : 0);
	*weight = reached > progress->emitted ? reached - progress->emitted : 0;
	progress->emitted += *weight;
	return true;
}

void ppi_perf_weights_drop_stream(struct perf_weights *weights, uint64_t id)
{
	for (size_t i = 0; i < weights->room; i++) {
		struct perf_thread *thread = weights->slots[i];
		struct perf_stream *stream =
			thread ? find_stream(thread, id) : NULL;

		if (!stream)
			continue;
		thread->progress[stream->event].counted -= stream->value;
		*stream = thread->streams[--thread->stream_count];
	}
}

void ppi_perf_weights_mix_all(struct perf_weights *weights)
{
	for (size_t i = 0; i < weights->room; i++)
		if (weights->slots[i] && weights->slots[i]->is_direct)
			weights->slots[i]->has_mixed_times = true;
}
