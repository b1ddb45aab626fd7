/* SPDX-License-Identifier: MIT */
/*
 * Opening and closing the kernel events and rings of single threads; with them
 * the events that copy more of the stack once chains are cut.
 */
#include "backends/perf/counts/perf_counts.h"
#include "backends/perf/counts/perf_user.h"
#include "backends/perf/perf_account.h"
#include "backends/perf/perf_errors.h"
#include "backends/perf/perf_proc.h"
#include "backends/perf/perf_rings.h"
#include "backends/perf/perf_samples.h"
#include "backends/perf/perf_state.h"
#include "backends/perf/perf_target.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

/* ---- small copies of stacks, then whole ones ---- */

/*
 * Copies of stacks that begin small. The kernel writes the size that was asked
 * for with each sample, whatever of it is of use, and an open event's cannot be
 * changed. So each has a twin with the size that was asked for, which is
 * inherited along and off; when chains are cut the twins take over, everywhere at
 * once. Counts of both are the event's.
 */

/* What nine of ten chains of usual programs need. */
enum { SMALL = 8 << 10, EVENTS_SHARE = 4 };

void ppi_perf_choose_small_stacks(struct ppi_backend_session *bs,
                                  size_t threads)
{
	struct perf_state *state = perf_state_of(bs);
	uint64_t limit, needed = threads * state->cpu_count;
	uint64_t available = ppi_perf_proc_free_fds(perf_kernel_of(bs->kernel),
	                                            &limit);

	/* what leads others, or is told apart by its count alone, stays one */
	if (bs->plan->may_copy_less && bs->plan->event_count == 1 &&
	    state->has_carriers && (state->has_values || state->has_clocks) &&
	    state->kind.shape.stack_bytes > SMALL &&
	    needed * EVENTS_SHARE < available)
		state->small_stack = SMALL;
}

void ppi_perf_attr_of_size(const struct perf_state *state, bool is_large,
                           struct perf_event_attr *attr)
{
	if (!state->small_stack)
		return;
	if (is_large)
		attr->enable_on_exec = state->is_grown && attr->enable_on_exec;
	else
		attr->sample_stack_user = state->small_stack;
}

static void control(struct ppi_backend_session *bs, bool is_large,
                    unsigned long request)
{
	struct perf_state *state = perf_state_of(bs);

	for (size_t i = 0; i < state->source_count; i++) {
		const struct perf_source *source = &state->sources[i];

		if (source->event != PERF_CARRIER &&
		    source->is_large == is_large &&
		    !state->tallies[source->event].is_off)
			ppi_perf_control(bs, source, request, NULL);
	}
}

void ppi_perf_grow_stacks(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);

	if (!state->small_stack || state->is_grown || state->awaits_exec)
		return;
	state->is_grown = true;
	if (!state->is_running)
		return;
	control(bs, false, PERF_EVENT_IOC_DISABLE);
	control(bs, true, PERF_EVENT_IOC_ENABLE);
	ppi_note(bs, "call chains were truncated: %u bytes of each stack are "
	         "copied now, %u before%s", state->kind.shape.stack_bytes,
	         state->small_stack,
	         state->kind.shape.stack_bytes < bs->plan->stack_bytes &&
	         !state->is_lock_limited
	         ? "; buffers hold no more at this rate" : "");
}

/* ---- one event ---- */

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

/* Close what was opened for a thread from `ring` on; tally it or not. */
static void close_sources(struct ppi_backend_session *bs, int64_t tid,
                          bool is_counted)
{
	struct perf_state *state = perf_state_of(bs);
	size_t kept = 0;

	for (size_t i = 0; i < state->source_count; i++) {
		struct perf_source *source = &state->sources[i];

		if (source->tid != tid) {
			state->sources[kept++] = *source;
			continue;
		}
		if (is_counted)
			ppi_perf_tally_closing(bs, source);
		else
			ppi_perf_weights_drop_stream(&state->weights,
			                             source->id);
		ppi_perf_close_source(bs, source);
	}
	state->source_count = kept;
}

/* -1: a thread's, on any. */
static int cpu_of_port(const struct perf_state *state, size_t port)
{
	return state->layout == PERF_THREAD_RINGS
		? -1 : (int)state->ports[port].cpu;
}

/*
 * Open one event for one thread and lead its records into its ring, or make
 * that the event's own; a member of the group that *leader leads has none, if it
 * only counts along.
 * *leader of -1 becomes the event's descriptor.
 */
static portprof_status open_source(struct ppi_backend_session *bs,
                                   struct perf_source source, bool is_carrier,
                                   int *leader, struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	const struct ppi_event *what = source.event == PERF_CARRIER
		? NULL : &bs->plan->events[source.event];
	struct perf_port *to = &state->ports[source.ring];
	int cpu = cpu_of_port(state, source.ring);
	struct perf_session_kind kind = state->kind;
	struct perf_event_attr attr;
	portprof_status status = PORTPROF_OK;
	int error = 0;

	source.is_member = *leader >= 0;
	if (what)
		kind = ppi_perf_kind_of_event(bs, source.event);
	if (source.is_member) {
		ppi_perf_attr_member(&kind, what, &attr);
		attr.disabled = state->tallies[source.event].is_off;
	} else if (what) {
		ppi_perf_attr_sample(&kind, what, is_carrier, &attr);
		if (!is_carrier &&
		    !(state->kind.shape.read_format & PERF_FORMAT_GROUP))
			ppi_perf_attr_end_with_program(&kind, what, &attr);
	} else {
		ppi_perf_attr_carrier(&kind, bs->plan->target.kind ==
		                      PPI_TARGET_COMMAND && !state->is_by_cpu,
		                      &attr);
	}
	if (what) {
		ppi_perf_attr_of_size(state, source.is_large, &attr);
		ppi_perf_attr_of_probe(state, source.event, &attr);
	}
	if (what && ppi_perf_is_by_core(bs, source.event))
		attr.config |= (uint64_t)state->cores[source.core].type << 32;
	source.fd = source.tid == PERF_ANYBODY
		? ppi_perf_open_on_cpu(bs, &attr, cpu, *leader)
		: ppi_perf_open_attr(kernel, &attr, source.tid, cpu, *leader);
	if (source.fd < 0)
		return ppi_perf_refuse_source(bs, what, source.tid, -source.fd,
		                              why);
	if (what)
		error = ppi_perf_set_filter(kernel, what, source.fd);
	if (error == 0 && to->fd == PERF_PORT_FREE)
		status = ppi_perf_map_ring(bs, source.fd, to, why);
	else if (error == 0 && (!source.is_member || perf_is_sampled(what)))
		error = kernel->control(kernel->self, source.fd,
		                        PERF_EVENT_IOC_SET_OUTPUT,
		                        (void *)(intptr_t)to->fd);
	if (status == PORTPROF_OK && error == 0)
		error = kernel->control(kernel->self, source.fd,
		                        PERF_EVENT_IOC_ID, &source.id);
	if (status == PORTPROF_OK && error == 0 &&
	    !ppi_perf_add_source(state, &source))
		error = -ENOMEM;
	if (status == PORTPROF_OK && error == 0) {
		if (to->fd == PERF_PORT_FREE)
			to->fd = source.fd;
		if (!source.is_member)
			*leader = source.fd;
		return PORTPROF_OK;
	}
	if (to->fd == PERF_PORT_FREE && to->ring.address)
		kernel->unmap(kernel->self, to->ring.address,
		              to->ring.mapped_bytes);
	kernel->close_event(kernel->self, source.fd, PERF_FRESH);
	return status != PORTPROF_OK ? status
		: ppi_perf_refuse_open(kernel, what, -error, why);
}

/* Whether it counts along with the event before it. */
static bool is_member(const struct ppi_plan *plan, uint32_t event)
{
	return plan->sample_fields & PORTPROF_FIELD_GROUP_VALUES &&
	       event > 0 &&
	       plan->events[event].group == plan->events[event - 1].group;
}

/* One event: of the CPU's type of core; for a thread's ring of each type. */
static portprof_status open_event(struct ppi_backend_session *bs,
                                  struct perf_source source, bool *is_told,
                                  int *leader, struct ppi_diag *why)
{
	const struct perf_state *state = perf_state_of(bs);
	int cpu = cpu_of_port(state, source.ring);
	portprof_status status = PORTPROF_OK;

	for (size_t core = 0; core <= state->core_count &&
	     status == PORTPROF_OK; core++) {
		if (!ppi_perf_is_on_core(bs, source.event, core, cpu))
			continue;
		source.core = (uint8_t)core;
		if (ppi_perf_is_by_core(bs, source.event))
			*leader = -1; /* no group: check_values */
		status = open_source(bs, source, !*is_told, leader, why);
		*is_told |= status == PORTPROF_OK;
		if (ppi_perf_is_missing(bs, source.event, status, why))
			status = PORTPROF_OK;
	}
	return status;
}

/* Where a thread's carrier writes: into a side ring of its own while there are
 * few of those. */
static size_t new_side_port(struct perf_state *state, int64_t tid)
{
	size_t at = ppi_perf_side_rings_left(state) ? ppi_perf_new_port(state)
	                                        : SIZE_MAX;

	if (at != SIZE_MAX) {
		state->ports[at].is_side = true;
		state->ports[at].tid = tid;
	}
	return at;
}

/* What tells of the mappings and threads of a thread whose samples go to
 * `port`. CPUs have their side rings behind those of samples, in the same
 * order. */
static portprof_status open_carrier(struct ppi_backend_session *bs,
                                    int64_t tid, size_t port,
                                    struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	struct perf_source source = { .event = PERF_CARRIER, .tid = tid };
	portprof_status status;
	int leader = -1;
	size_t side = port;

	if (state->has_carriers)
		side = state->layout == PERF_THREAD_RINGS
			? new_side_port(state, tid) : port + state->cpu_count;
	source.ring = (uint32_t)(side == SIZE_MAX ? port : side);
	status = open_source(bs, source, true, &leader, why);
	/* Memory for another ring cannot be had: it shares. */
	if ((status == PORTPROF_E_LIMIT || status == PORTPROF_E_NOMEM) &&
	    state->layout == PERF_THREAD_RINGS && source.ring != port) {
		source.ring = (uint32_t)port;
		status = open_source(bs, source, true, &leader, why);
	}
	return status;
}

portprof_status ppi_perf_attach_cpu_carrier(struct ppi_backend_session *bs,
                                            size_t port, struct ppi_diag *why)
{
	struct perf_source source = { .event = PERF_CARRIER,
		                      .tid = PERF_ANYBODY,
		                      .ring = (uint32_t)port };
	int leader = -1;

	return open_source(bs, source, true, &leader, why);
}

/* Without carriers the first to be opened tells of mappings and threads. */
static portprof_status open_sources(struct ppi_backend_session *bs,
                                    int64_t tid, size_t port,
                                    struct ppi_diag *why)
{
	struct perf_source source = { .ring = (uint32_t)port, .tid = tid };
	portprof_status status = PORTPROF_OK;
	bool is_told = perf_state_of(bs)->has_carriers;
	int leader = -1;

	for (; source.event < bs->plan->event_count && status == PORTPROF_OK;
	     source.event++) {
		leader = is_member(bs->plan, source.event) ? leader : -1;
		status = open_event(bs, source, &is_told, &leader, why);
		if (status != PORTPROF_OK || !perf_state_of(bs)->small_stack)
			continue;
		leader = -1;
		source.is_large = true;
		status = open_event(bs, source, &is_told, &leader, why);
		source.is_large = false;
	}
	/* A CPU's own is there with its side ring. */
	if (perf_state_of(bs)->has_carriers ? tid == PERF_ANYBODY : is_told)
		return status;
	return status == PORTPROF_OK ? open_carrier(bs, tid, port, why)
	                             : status;
}

portprof_status ppi_perf_attach_system(struct ppi_backend_session *bs,
                                       struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	portprof_status status = PORTPROF_OK;

	for (size_t port = 0; port < state->cpu_count &&
	     status == PORTPROF_OK; port++)
		status = open_sources(bs, PERF_ANYBODY, port, why);
	return status;
}

static portprof_status open_on_cpus(struct ppi_backend_session *bs,
                                    int64_t tid, struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	portprof_status status = PORTPROF_OK;

	for (size_t port = 0; port < state->cpu_count &&
	     status == PORTPROF_OK; port++)
		status = open_sources(bs, tid, port, why);
	return status;
}

static void retire_ports_of(struct ppi_backend_session *bs, int64_t tid)
{
	struct perf_state *state = perf_state_of(bs);

	for (size_t i = 0; i < state->port_count; i++)
		if (state->ports[i].tid == tid &&
		    state->ports[i].fd != PERF_PORT_FREE)
			ppi_perf_retire_port(bs, i);
}

static portprof_status open_with_ring(struct ppi_backend_session *bs,
                                      int64_t tid, struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	portprof_status status = PORTPROF_OK;
	size_t port = ppi_perf_new_port(state);

	if (port == SIZE_MAX)
		return ppi_fail(why, PORTPROF_E_NOMEM, ENOMEM, "open ring",
		                "out of memory");
	status = open_sources(bs, tid, port, why);
	state->ports[port].tid = tid;
	if (status != PORTPROF_OK)
		retire_ports_of(bs, tid);
	return status;
}

static void enable_thread(struct ppi_backend_session *bs, int64_t tid)
{
	struct perf_state *state = perf_state_of(bs);

	for (size_t i = 0; i < state->source_count; i++)
		if (state->sources[i].tid == tid &&
		    !state->sources[i].is_member &&
		    !perf_is_off(state, &state->sources[i]))
			ppi_perf_control(bs, &state->sources[i],
			                 PERF_EVENT_IOC_ENABLE, NULL);
}

void ppi_perf_end_thread(struct ppi_backend_session *bs, int64_t tid)
{
	struct perf_state *state = perf_state_of(bs);

	for (size_t i = 0; i < state->source_count; i++)
		if (state->sources[i].tid == tid)
			ppi_perf_control(bs, &state->sources[i],
			                 PERF_EVENT_IOC_DISABLE, NULL);
	for (size_t i = 0; i < state->port_count; i++)
		if (state->ports[i].tid == tid &&
		    state->ports[i].fd != PERF_PORT_FREE)
			state->ports[i].is_ended = true;
}

void ppi_perf_enable_carriers(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);

	for (size_t i = 0; i < state->source_count; i++)
		if (state->sources[i].event == PERF_CARRIER)
			ppi_perf_control(bs, &state->sources[i],
			                 PERF_EVENT_IOC_ENABLE, NULL);
}

portprof_status ppi_perf_attach_thread(struct ppi_backend_session *bs,
                                       int64_t tid, struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	struct perf_thread *thread =
		ppi_perf_weights_add(&state->weights, (uint32_t)tid);
	portprof_status status;

	if (!thread)
		return ppi_fail(why, PORTPROF_E_NOMEM, ENOMEM, "attach thread",
		                "out of memory");
	thread->is_direct = true;
	if (state->layout == PERF_CPU_RINGS)
		status = open_on_cpus(bs, tid, why);
	else
		status = open_with_ring(bs, tid, why);
	if (status != PORTPROF_OK) {
		close_sources(bs, tid, false);
		ppi_perf_weights_end(&state->weights, (uint32_t)tid);
		return status;
	}
	if (state->is_running && !state->awaits_exec)
		enable_thread(bs, tid);
	else if (state->is_early)
		ppi_perf_enable_carriers(bs);
	return PORTPROF_OK;
}

/* In one order with the events closed first: a mapping whose event is gone
 * stays until it is unmapped. */
void ppi_perf_retire_port(struct ppi_backend_session *bs, size_t at)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	struct perf_port *port = &state->ports[at];
	size_t kept = 0;

	for (size_t i = 0; i < state->source_count; i++) {
		struct perf_source *source = &state->sources[i];

		if (source->ring != at) {
			state->sources[kept++] = *source;
			continue;
		}
		ppi_perf_tally_closing(bs, source);
		ppi_perf_close_source(bs, source);
	}
	state->source_count = kept;
	if (port->is_side)
		state->side_lost += port->ring.damaged;
	else
		state->damaged += port->ring.damaged;
	kernel->unmap(kernel->self, port->ring.address,
	              port->ring.mapped_bytes);
	memset(port, 0, sizeof(*port));
	port->fd = PERF_PORT_FREE;
}

void ppi_perf_drop_direct(struct ppi_backend_session *bs, uint32_t tid)
{
	struct perf_thread *thread =
		ppi_perf_weights_find(&perf_state_of(bs)->weights, tid);

	if (thread)
		thread->is_direct = false;
	close_sources(bs, tid, false);
	ppi_perf_clocks_recount(bs);
}

void ppi_perf_release(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	/* The kernel does not give rings to a forked child (VM_DONTCOPY). */
	bool is_owner = kernel->get_pid(kernel->self) == bs->owner_pid;

	for (size_t i = 0; i < state->port_count; i++) {
		struct perf_port *port = &state->ports[i];

		if (port->fd == PERF_PORT_FREE)
			continue;
		if (is_owner)
			kernel->unmap(kernel->self, port->ring.address,
			              port->ring.mapped_bytes);
		if (port->owns_fd)
			kernel->close_event(kernel->self, port->fd, 0);
	}
	for (size_t i = 0; i < state->source_count; i++) {
		if (is_owner)
			ppi_perf_user_unmap(bs, &state->sources[i]);
		if (!state->sources[i].is_refused)
			ppi_perf_close_source(bs, &state->sources[i]);
	}
	ppi_perf_untrace_probes(bs); /* none is in use any more */
	if (state->has_cgroup)
		kernel->close_event(kernel->self, state->cgroup_fd, 0);
	ppi_perf_pending_free(state);
	ppi_perf_tail_forget(state);
	ppi_perf_weights_free(&state->weights);
	ppi_perf_build_ids_free(&state->build_ids);
	free(state->sources);
	free(state->ports);
	free(state->order);
	free(state->idle.began);
	free(state->cpus);
	free(state->tallies);
	free(state->raw);
	free(state->family);
	free(state->cgroups);
	free(state->scratch);
	free(state->tail_words);
	free((void *)state->highest);
	free((void *)state->user_pages);
	memset(state, 0, sizeof(*state));
}
