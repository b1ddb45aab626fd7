/* SPDX-License-Identifier: MIT */
/* The rings: places for them, mapping them, one for each CPU. */
#include "backends/perf/perf_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

size_t perf_new_port(struct perf_state *state)
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

/* The budget for locked memory is used up: kernel/events/core.c, perf_mmap. */
static bool is_out_of_budget(int error)
{
	return error == -EPERM || error == -ENOMEM;
}

static int try_map(struct ppi_backend_session *bs, int fd,
                   struct perf_ring *ring)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	size_t bytes = state->ring_bytes + state->page_bytes;
	void *address;
	int error = kernel->map(kernel->self, fd, bytes, &address);

	if (error < 0)
		return error;
	if (perf_ring_attach(ring, address, bytes, state->page_bytes))
		return 0;
	kernel->unmap(kernel->self, address, bytes);
	return -EIO;
}

bool perf_shrink_rings(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);

	if (state->ring_bytes <= state->page_bytes)
		return false;
	state->ring_bytes /= 2;
	ppi_note(bs, "rings are smaller than they should be, so samples may "
	         "be lost: the memory a user may lock is limited; raise "
	         "kernel.perf_event_mlock_kb or ulimit -l");
	return true;
}

portprof_status perf_map_ring(struct ppi_backend_session *bs, int fd,
                              struct perf_ring *ring, struct ppi_diag *why)
{
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	struct perf_state *state = perf_state_of(bs);
	int error;

	do {
		error = try_map(bs, fd, ring);
	} while (is_out_of_budget(error) &&
	         state->layout == PERF_THREAD_RINGS && perf_shrink_rings(bs));
	if (error == 0)
		return PORTPROF_OK;
	return perf_refuse_map(kernel, state->ring_bytes + state->page_bytes,
	                       -error, why);
}

portprof_status perf_attach_cpu(struct ppi_backend_session *bs, uint32_t cpu,
                                struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	struct perf_event_attr attr;
	portprof_status status;
	size_t at = perf_new_port(state);
	int fd;

	if (at == SIZE_MAX)
		return ppi_fail(why, PORTPROF_E_NOMEM, ENOMEM, "open ring",
		                "out of memory");
	perf_attr_ring_owner(&state->kind, &attr);
	/* Of the thread that calls, which is the helper. */
	fd = perf_open_attr(kernel, &attr, 0, (int)cpu, -1);
	if (fd < 0)
		return perf_refuse_open(kernel, NULL, -fd, why);
	status = perf_map_ring(bs, fd, &state->ports[at].ring, why);
	if (status != PORTPROF_OK) {
		kernel->close_event(kernel->self, fd);
		return status;
	}
	state->ports[at].fd = fd;
	state->ports[at].owns_fd = true;
	state->ports[at].cpu = cpu;
	return PORTPROF_OK;
}

void perf_close_cpus(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);

	for (size_t i = 0; i < state->port_count; i++) {
		int fd = state->ports[i].fd;

		if (fd == PERF_PORT_FREE)
			continue;
		perf_retire_port(bs, i);
		kernel->close_event(kernel->self, fd);
	}
	state->port_count = 0;
}
