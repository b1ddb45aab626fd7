/* SPDX-License-Identifier: MIT */
/* The events of a session that are open in the kernel, until they are closed. */
#include "backends/perf/session/perf_session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- those that are open ---- */

struct perf_source *ppi_perf_add_source(struct perf_state *state,
                                        const struct perf_source *source)
{
	size_t at = state->source_count;

	if (at == state->source_room) {
		size_t room = at ? at * 2 : 16;
		struct perf_source *more =
			realloc(state->sources, room * sizeof(*more));

		if (!more)
			return NULL;
		state->sources = more;
		state->source_room = room;
	}
	/* The kernel counts ids up, so the place is nearly always the end. */
	while (at > 0 && state->sources[at - 1].id > source->id)
		at--;
	memmove(&state->sources[at + 1], &state->sources[at],
	        (state->source_count - at) * sizeof(*source));
	state->sources[at] = *source;
	state->source_count++;
	return &state->sources[at];
}

/* ---- whether one is still ours ---- */

/*
 * A program may close all that it did not open itself (closefrom(3)): what it opens
 * later in the place of our descriptor is none of ours to switch, read or close.
 *
 * Asked before each switch, which costs 125 ns, 75 of them for making a call at all.
 * Another profiler's event may well have our number: a second copy of this library
 * moves its descriptors to the same. Of what is cheaper,
 * - to switch, and to see in a reading whose event it was (PERF_FORMAT_ID), is too
 *   late: no call tells whether that event was on before;
 * - marks of a descriptor (F_SETSIG, F_SETOWN) are not unique, and cost 75 ns;
 * - not to switch, and to subtract what is counted meanwhile, needs two readings,
 *   which take a pipe's bytes, and a stopped group would keep its place on the PMU.
 * Reading needs no question: ids are in the answer.
 */
int ppi_perf_ask_ours(const struct ppi_backend_session *bs,
                      const struct perf_source *source)
{
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	uint64_t id;
	int error = kernel->control(kernel->self, source->fd,
	                            PERF_EVENT_IOC_ID, &id);

	if (error == -ENOTTY)
		return -EBADF;
	/* numbers of events are not given twice */
	return error == 0 && id != source->id ? -EBADF : error;
}

int ppi_perf_control(const struct ppi_backend_session *bs,
                     const struct perf_source *source, unsigned long request,
                     void *arg)
{
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);

	int error = ppi_perf_ask_ours(bs, source);

	return error ? error
	             : kernel->control(kernel->self, source->fd, request, arg);
}

void ppi_perf_close_source(const struct ppi_backend_session *bs,
                           const struct perf_source *source)
{
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);

	kernel->close_event(kernel->self, source->fd, source->id);
}

bool ppi_perf_look_closed(const struct ppi_backend_session *bs,
                          const struct perf_source *source)
{
	if (ppi_perf_ask_ours(bs, source) != -EBADF)
		return false;
	atomic_store(&perf_state_of(bs)->is_closed, true);
	return true;
}

portprof_status ppi_perf_count_failed(const struct ppi_backend_session *bs,
                                      portprof_status status)
{
	const char *why = NULL;

	if (atomic_load(&perf_state_of(bs)->is_closed))
		why = "the program closed the descriptors of the group";
	else if (status == PORTPROF_E_SYSTEM && errno == ECHILD)
		why = "threads began and ended all the while";
	return ppi_count_failed(bs, status, why);
}

/* ---- the end ---- */

void ppi_perf_release_session(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);

	for (size_t i = 0; i < state->source_count; i++)
		if (!state->sources[i].is_refused)
			ppi_perf_close_source(bs, &state->sources[i]);
	ppi_perf_untrace_probes(bs); /* none is in use any more */
	if (state->cgroup.is_open)
		kernel->close_event(kernel->self, state->cgroup.fd, 0);
	free(state->sources);
	free(state->cgroup.known);
	free(state->idle.began);
	free(state->cpus);
}
