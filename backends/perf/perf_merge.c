/* SPDX-License-Identifier: MIT */
/* Records of several rings in the order of their times: a heap of fronts. */
#include "backends/perf/perf_state.h"

#include <string.h>

/* Look at a port's front record; false when the ring is empty. */
static bool look_at_front(struct perf_state *state, struct perf_port *port)
{
	const struct perf_shape *shape = &state->kind.shape;
	struct perf_event_header header;
	uint64_t word;
	size_t at;

	port->front_bytes = perf_ring_front(&port->ring);
	if (port->front_bytes == 0)
		return false;
	word = perf_ring_word(&port->ring, 0);
	memcpy(&header, &word, sizeof(header));
	if (header.type == PERF_RECORD_SAMPLE)
		at = perf_time_in_sample(shape);
	else
		at = port->front_bytes - perf_time_from_end(shape);
	/* Too short to hold a time: out of the way at once. */
	port->next_time_ns = 0;
	if (at >= sizeof(header) && at + 8 <= port->front_bytes)
		port->next_time_ns = perf_ring_word(&port->ring, at);
	return true;
}

static bool is_older(const struct perf_state *state, size_t a, size_t b)
{
	return state->ports[state->order[a]].next_time_ns <
	       state->ports[state->order[b]].next_time_ns;
}

static void swap(struct perf_state *state, size_t a, size_t b)
{
	size_t port = state->order[a];

	state->order[a] = state->order[b];
	state->order[b] = port;
}

static void sift_down(struct perf_state *state, size_t at)
{
	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= state->order_count)
			return;
		if (child + 1 < state->order_count &&
		    is_older(state, child + 1, child))
			child++;
		if (!is_older(state, child, at))
			return;
		swap(state, at, child);
		at = child;
	}
}

void perf_merge_begin(struct perf_state *state)
{
	state->order_count = 0;
	for (size_t i = 0; i < state->port_count; i++) {
		struct perf_port *port = &state->ports[i];

		if (port->fd < 0)
			continue;
		perf_ring_look(&port->ring);
		if (look_at_front(state, port))
			state->order[state->order_count++] = i;
	}
	for (size_t i = state->order_count / 2; i-- > 0;)
		sift_down(state, i);
}

bool perf_merge_oldest(struct perf_state *state, uint64_t until_ns,
                       size_t *port)
{
	if (state->order_count == 0 ||
	    state->ports[state->order[0]].next_time_ns > until_ns)
		return false;
	*port = state->order[0];
	return true;
}

void perf_merge_advance(struct perf_state *state)
{
	if (!look_at_front(state, &state->ports[state->order[0]]))
		state->order[0] = state->order[--state->order_count];
	sift_down(state, 0);
}
