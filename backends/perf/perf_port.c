/* SPDX-License-Identifier: MIT */
/* The rings: places for them, mapping them, one for each CPU. */
#include "backends/perf/perf_state.h"

#include "backends/perf/perf_errors.h"
#include "backends/perf/perf_rate.h"
#include "backends/perf/perf_rings.h"
#include "backends/perf/events/perf_attr.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

size_t ppi_perf_new_port(struct perf_state *state)
{
	size_t at = 0;

	while (at < state->port_count && state->ports[at].fd != PERF_PORT_FREE)
		at++;
	if (at == state->port_room) {
		size_t room = at ? at * 2 : 16;
		struct perf_port *ports =
			realloc(state->ports, room * sizeof(*ports));
		size_t *order;

		if (!ports)
			return SIZE_MAX;
		state->ports = ports;
		order = realloc(state->order, room * sizeof(*order));
		if (!order)
			return SIZE_MAX;
		state->order = order;
		state->port_room = room;
	}
	memset(&state->ports[at], 0, sizeof(state->ports[at]));
	state->ports[at].fd = PERF_PORT_FREE;
	if (at == state->port_count)
		state->port_count++;
	return at;
}

enum { RING_TRIED_LEAST = 32 << 10 };

/* The budget for locked memory is used up: kernel/events/core.c, perf_mmap. */
static bool is_out_of_budget(int error)
{
	return error == -EPERM || error == -ENOMEM;
}

static size_t bytes_of(const struct perf_state *state,
                       const struct perf_port *port)
{
	return state->page_bytes +
	       (port->is_side ? state->side_bytes : state->ring_bytes);
}

static int try_map(struct ppi_backend_session *bs, int fd,
                   struct perf_port *port)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	size_t bytes = bytes_of(state, port);
	void *address;
	int error = kernel->map(kernel->self, fd, bytes, &address);

	if (error < 0)
		return error;
	if (ppi_perf_ring_attach(&port->ring, address, bytes,
	                         state->page_bytes))
		return 0;
	kernel->unmap(kernel->self, address, bytes);
	return -EIO;
}

/* What is larger than its ring is never written. */
static size_t ring_least(const struct perf_state *state)
{
	return state->kind.shape.stack_bytes
		? 4 * (size_t)(state->kind.shape.stack_bytes + 1024) : 0;
}

/*
 * Rings of threads are made while events are opened, whose shape cannot change
 * then: find out before how large they can be, with room for as many more.
 */
void ppi_perf_fit_thread_rings(struct ppi_backend_session *bs, size_t threads)
{
	struct perf_state *state = perf_state_of(bs);
	struct perf_event_attr attr;
	size_t rings = 2;

	while (rings < 2 * threads)
		rings *= 2;
	while (state->ring_bytes > RING_TRIED_LEAST) {
		ppi_perf_attr_ring_owner(&state->kind, &attr);
		if (!is_out_of_budget(-ppi_perf_try_attr(
			    perf_kernel_of(bs->kernel), &attr, 0, -1,
			    rings * state->ring_bytes + state->page_bytes)))
			break;
		state->ring_bytes /= 2;
		state->is_lock_limited = true;
	}
	ppi_perf_fit_stacks(bs);
}

bool ppi_perf_shrink_rings(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	size_t *larger = state->side_bytes > state->ring_bytes &&
	                 state->layout != PERF_THREAD_RINGS
		? &state->side_bytes : &state->ring_bytes;

	if (*larger <= state->page_bytes ||
	    (state->layout == PERF_THREAD_RINGS &&
	     *larger / 2 < ring_least(state)))
		return false;
	*larger /= 2;
	state->is_lock_limited = true;
	if (state->kind.shape.stack_bytes &&
	    larger == &state->ring_bytes)
		return true; /* shorter copies make up for it */
	ppi_note(bs, "rings are smaller than they should be, so samples may "
	         "be lost: the memory a user may lock is limited; raise "
	         "kernel.perf_event_mlock_kb or ulimit -l");
	return true;
}

size_t ppi_perf_side_rings_left(const struct perf_state *state)
{
	enum { SIDE_RINGS_OF_THREADS = 32 };
	size_t used = 0;

	for (size_t i = 0; i < state->port_count; i++)
		used += state->ports[i].fd != PERF_PORT_FREE &&
		        state->ports[i].is_side;
	return used < SIDE_RINGS_OF_THREADS ? SIDE_RINGS_OF_THREADS - used : 0;
}

portprof_status ppi_perf_map_ring(struct ppi_backend_session *bs, int fd,
                                  struct perf_port *port, struct ppi_diag *why)
{
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	struct perf_state *state = perf_state_of(bs);
	int error;

	do {
		error = try_map(bs, fd, port);
	} while (is_out_of_budget(error) && !port->is_side &&
	         state->layout == PERF_THREAD_RINGS &&
	         ppi_perf_shrink_rings(bs));
	if (error == 0)
		return PORTPROF_OK;
	return ppi_perf_refuse_map(kernel, bytes_of(state, port), -error, why);
}

portprof_status ppi_perf_attach_cpu(struct ppi_backend_session *bs,
                                    uint32_t cpu,
                                    bool is_side, struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	struct perf_event_attr attr;
	portprof_status status;
	size_t at = ppi_perf_new_port(state);
	int fd;

	if (at == SIZE_MAX)
		return ppi_fail(why, PORTPROF_E_NOMEM, ENOMEM, "open ring",
		                "out of memory");
	state->ports[at].cpu = cpu;
	state->ports[at].is_side = is_side;
	if (is_side && state->layout == PERF_SYSTEM_RINGS)
		return ppi_perf_attach_cpu_carrier(bs, at, why);
	ppi_perf_attr_ring_owner(&state->kind, &attr);
	/* Of the thread that calls, which is the helper. */
	fd = ppi_perf_open_attr(kernel, &attr, 0, (int)cpu, -1);
	if (fd < 0)
		return ppi_perf_refuse_open(kernel, NULL, -fd, why);
	status = ppi_perf_map_ring(bs, fd, &state->ports[at], why);
	if (status != PORTPROF_OK) {
		kernel->close_event(kernel->self, fd, PERF_FRESH);
		return status;
	}
	state->ports[at].fd = fd;
	state->ports[at].owns_fd = true;
	return PORTPROF_OK;
}

void ppi_perf_close_cpus(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);

	for (size_t i = 0; i < state->port_count; i++) {
		struct perf_port port = state->ports[i];

		if (port.fd == PERF_PORT_FREE)
			continue;
		ppi_perf_retire_port(bs, i);
		if (port.owns_fd)
			kernel->close_event(kernel->self, port.fd, PERF_FRESH);
	}
	state->port_count = 0;
}
