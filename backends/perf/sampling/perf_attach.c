/* SPDX-License-Identifier: MIT */
/*
 * Opening and closing the kernel events and rings of threads and of CPUs, and which
 * threads those are: at open, and with thread rings all along.
 */
#include "backends/perf/kernel/perf_refusal.h"
#include "backends/perf/records/perf_weight.h"
#include "backends/perf/sampling/perf_account.h"
#include "backends/perf/sampling/perf_rings.h"
#include "backends/perf/sampling/perf_samples.h"
#include "backends/perf/sampling/perf_sampling.h"
#include "backends/perf/sampling/perf_sides.h"
#include "backends/perf/session/perf_cpus.h"
#include "backends/perf/session/perf_target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- events and their rings ---- */

/* Close what was opened for a thread; tally it or not. */
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
			ppi_perf_weights_drop_stream(state->weights,
			                             source->id);
		ppi_perf_close_source(bs, source);
	}
	state->source_count = kept;
}

/* -1: a thread's, on any. */
static int cpu_of_ring(const struct perf_state *state, size_t ring)
{
	return state->layout == PERF_THREAD_RINGS
		? -1 : (int)state->rings->all[ring].cpu;
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
	struct perf_ring *to = &state->rings->all[source.ring];
	int cpu = cpu_of_ring(state, source.ring);
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
	if (error == 0 && to->fd == PERF_RING_FREE)
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
		if (to->fd == PERF_RING_FREE)
			to->fd = source.fd;
		if (!source.is_member)
			*leader = source.fd;
		return PORTPROF_OK;
	}
	if (to->fd == PERF_RING_FREE && to->buffer.address)
		kernel->unmap(kernel->self, to->buffer.address,
		              to->buffer.mapped_bytes);
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
	int cpu = cpu_of_ring(state, source.ring);
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
static size_t new_side_ring(struct perf_state *state, int64_t tid)
{
	size_t at = ppi_perf_side_rings_left(state) ? ppi_perf_new_ring(state)
	                                        : SIZE_MAX;

	if (at != SIZE_MAX) {
		state->rings->all[at].is_side = true;
		state->rings->all[at].tid = tid;
	}
	return at;
}

/* What reports the mappings and threads of a thread whose samples go to
 * `ring`. CPUs have their side rings behind those of samples, in the same
 * order. */
static portprof_status open_carrier(struct ppi_backend_session *bs,
                                    int64_t tid, size_t ring,
                                    struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	struct perf_source source = { .event = PERF_CARRIER, .tid = tid };
	portprof_status status;
	int leader = -1;
	size_t side = ring;

	if (state->sides->has_carriers)
		side = state->layout == PERF_THREAD_RINGS
			? new_side_ring(state, tid) : ring + state->cpu_count;
	source.ring = (uint32_t)(side == SIZE_MAX ? ring : side);
	status = open_source(bs, source, true, &leader, why);
	/* No memory for another ring: it shares. */
	if ((status == PORTPROF_E_LIMIT || status == PORTPROF_E_NOMEM) &&
	    state->layout == PERF_THREAD_RINGS && source.ring != ring) {
		source.ring = (uint32_t)ring;
		status = open_source(bs, source, true, &leader, why);
	}
	return status;
}

portprof_status ppi_perf_attach_cpu_carrier(struct ppi_backend_session *bs,
                                            size_t ring, struct ppi_diag *why)
{
	struct perf_source source = { .event = PERF_CARRIER,
		                      .tid = PERF_ANYBODY,
		                      .ring = (uint32_t)ring };
	int leader = -1;

	return open_source(bs, source, true, &leader, why);
}

int ppi_perf_open_beside(struct ppi_backend_session *bs,
                         struct perf_source *source,
                         struct perf_event_attr *attr)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	const struct perf_ring *ring = &state->rings->all[source->ring];
	int error;

	source->fd = ppi_perf_open_on_cpu(bs, attr, (int)ring->cpu, -1);
	if (source->fd < 0)
		return source->fd;
	error = kernel->control(kernel->self, source->fd,
	                        PERF_EVENT_IOC_SET_OUTPUT,
	                        (void *)(intptr_t)ring->fd);
	if (error == 0)
		error = kernel->control(kernel->self, source->fd,
		                        PERF_EVENT_IOC_ID, &source->id);
	if (error == 0 && !ppi_perf_add_source(state, source))
		error = -ENOMEM;
	if (error < 0)
		kernel->close_event(kernel->self, source->fd, PERF_FRESH);
	return error;
}

void ppi_perf_close_beside(struct ppi_backend_session *bs,
                           bool (*is_one)(const struct perf_source *source))
{
	struct perf_state *state = perf_state_of(bs);
	size_t kept = 0;

	for (size_t i = 0; i < state->source_count; i++) {
		if (is_one(&state->sources[i]))
			ppi_perf_close_source(bs, &state->sources[i]);
		else
			state->sources[kept++] = state->sources[i];
	}
	state->source_count = kept;
}

/* Without carriers the first to be opened reports mappings and threads. */
static portprof_status open_sources(struct ppi_backend_session *bs,
                                    int64_t tid, size_t ring,
                                    struct ppi_diag *why)
{
	struct perf_source source = { .ring = (uint32_t)ring, .tid = tid };
	portprof_status status = PORTPROF_OK;
	bool has_carriers = perf_state_of(bs)->sides->has_carriers;
	bool is_told = has_carriers;
	int leader = -1;

	for (; source.event < bs->plan->event_count && status == PORTPROF_OK;
	     source.event++) {
		leader = is_member(bs->plan, source.event) ? leader : -1;
		status = open_event(bs, source, &is_told, &leader, why);
		if (status != PORTPROF_OK ||
		    !perf_state_of(bs)->stacks->small_bytes)
			continue;
		leader = -1;
		source.is_large = true;
		status = open_event(bs, source, &is_told, &leader, why);
		source.is_large = false;
	}
	/* A CPU's own is there with its side ring. */
	if (has_carriers ? tid == PERF_ANYBODY : is_told)
		return status;
	return status == PORTPROF_OK ? open_carrier(bs, tid, ring, why)
	                             : status;
}

portprof_status ppi_perf_attach_system(struct ppi_backend_session *bs,
                                       struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	portprof_status status = PORTPROF_OK;

	for (size_t ring = 0; ring < state->cpu_count &&
	     status == PORTPROF_OK; ring++)
		status = open_sources(bs, PERF_ANYBODY, ring, why);
	return status;
}

static portprof_status open_on_cpus(struct ppi_backend_session *bs,
                                    int64_t tid, struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	portprof_status status = PORTPROF_OK;

	for (size_t ring = 0; ring < state->cpu_count &&
	     status == PORTPROF_OK; ring++)
		status = open_sources(bs, tid, ring, why);
	return status;
}

static void retire_rings_of(struct ppi_backend_session *bs, int64_t tid)
{
	struct perf_state *state = perf_state_of(bs);

	for (size_t i = 0; i < state->rings->count; i++)
		if (state->rings->all[i].tid == tid &&
		    state->rings->all[i].fd != PERF_RING_FREE)
			ppi_perf_retire_ring(bs, i);
}

static portprof_status open_with_ring(struct ppi_backend_session *bs,
                                      int64_t tid, struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	portprof_status status = PORTPROF_OK;
	size_t ring = ppi_perf_new_ring(state);

	if (ring == SIZE_MAX)
		return ppi_fail(why, PORTPROF_E_NOMEM, ENOMEM, "open ring",
		                "out of memory");
	status = open_sources(bs, tid, ring, why);
	state->rings->all[ring].tid = tid;
	if (status != PORTPROF_OK)
		retire_rings_of(bs, tid);
	return status;
}

static void enable_thread(struct ppi_backend_session *bs, int64_t tid)
{
	struct perf_state *state = perf_state_of(bs);

	for (size_t i = 0; i < state->source_count; i++)
		if (state->sources[i].tid == tid &&
		    !state->sources[i].is_member &&
		    !ppi_perf_is_off(state, &state->sources[i]))
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
	for (size_t i = 0; i < state->rings->count; i++)
		if (state->rings->all[i].tid == tid &&
		    state->rings->all[i].fd != PERF_RING_FREE)
			state->rings->all[i].is_ended = true;
}

void ppi_perf_enable_carriers(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);

	for (size_t i = 0; i < state->source_count; i++)
		if (state->sources[i].event == PERF_CARRIER &&
		    !state->sources[i].is_leave)
			ppi_perf_control(bs, &state->sources[i],
			                 PERF_EVENT_IOC_ENABLE, NULL);
}

portprof_status ppi_perf_attach_thread(struct ppi_backend_session *bs,
                                       int64_t tid, struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	struct perf_thread *thread =
		ppi_perf_weights_add(state->weights, (uint32_t)tid);
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
		ppi_perf_weights_end(state->weights, (uint32_t)tid);
		return status;
	}
	if (state->is_running && !state->awaits_exec)
		enable_thread(bs, tid);
	else if (state->sides->is_early)
		ppi_perf_enable_carriers(bs);
	return PORTPROF_OK;
}

/* In one order with the events closed first: a mapping whose event is gone
 * stays until it is unmapped. */
void ppi_perf_retire_ring(struct ppi_backend_session *bs, size_t at)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	struct perf_ring *ring = &state->rings->all[at];
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
	if (ring->is_side)
		state->sides->lost += ring->buffer.damaged;
	else
		state->rings->damaged += ring->buffer.damaged;
	kernel->unmap(kernel->self, ring->buffer.address,
	              ring->buffer.mapped_bytes);
	memset(ring, 0, sizeof(*ring));
	ring->fd = PERF_RING_FREE;
}

void ppi_perf_drop_direct(struct ppi_backend_session *bs, uint32_t tid)
{
	struct perf_thread *thread =
		ppi_perf_weights_find(perf_state_of(bs)->weights, tid);

	if (thread)
		thread->is_direct = false;
	close_sources(bs, tid, false);
	ppi_perf_clocks_recount(bs);
}

/* ---- which threads ---- */

enum {
	PASSES_MAX = 100, /* of threads that appear while we attach */
	SCAN_MOST_MS = 250
};

static portprof_status attach_new(struct ppi_backend_session *bs,
                                  size_t *attached, size_t *refused,
                                  struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	const struct ppi_target *target = &bs->plan->target;
	portprof_status status = PORTPROF_OK;
	int64_t *tids;
	size_t count;
	int error = ppi_perf_target_threads(bs, &tids, &count);

	*attached = *refused = 0;
	if (error < 0)
		return ppi_perf_refuse_threads(bs, -error, why);
	for (size_t i = 0; i < count && status == PORTPROF_OK; i++) {
		const struct perf_thread *known =
			ppi_perf_weights_find(state->weights,
			                      (uint32_t)tids[i]);

		if ((known && known->is_direct) ||
		    (target->is_self && tids[i] == bs->helper_tid))
			continue;
		status = ppi_perf_attach_thread(bs, tids[i], why);
		*attached += status == PORTPROF_OK;
		if (status != PORTPROF_OK &&
		    ppi_perf_may_miss(bs, tids[i], status)) {
			*refused += status != PORTPROF_E_NOTFOUND;
			status = PORTPROF_OK;
		}
	}
	free(tids);
	return status;
}

/* Until a look finds nothing new. A thread may be caught twice: here and by
 * inheritance; perf_drain.c sees that by its samples. */
portprof_status ppi_perf_attach_all(struct ppi_backend_session *bs,
                                  struct ppi_diag *why)
{
	const struct ppi_target *target = &bs->plan->target;
	portprof_status status;
	size_t attached, refused = 0;

	if (target->kind == PPI_TARGET_TID)
		return ppi_perf_attach_thread(bs, target->tid, why);
	for (unsigned pass = 0; pass < PASSES_MAX; pass++) {
		status = attach_new(bs, &attached, &refused, why);
		if (status != PORTPROF_OK || attached == 0)
			break;
	}
	if (status == PORTPROF_OK && perf_state_of(bs)->source_count == 0 &&
	    refused)
		return PORTPROF_E_DENIED; /* why holds the last one's */
	if (status == PORTPROF_OK)
		ppi_perf_note_missed(bs, refused);
	if (status == PORTPROF_OK && perf_state_of(bs)->source_count == 0)
		return ppi_fail(why, PORTPROF_E_NOTFOUND, ESRCH,
		                "attach threads", "process %lld has ended",
		                (long long)target->pid);
	return status;
}

void ppi_perf_attach_late(struct ppi_backend_session *bs, int64_t tid,
                          struct ppi_diag *why)
{
	const struct perf_thread *known =
		ppi_perf_weights_find(perf_state_of(bs)->weights,
		                      (uint32_t)tid);
	portprof_status status;

	if (known && known->is_direct)
		return;
	status = ppi_perf_attach_thread(bs, tid, why);
	if (status == PORTPROF_OK || status == PORTPROF_E_NOTFOUND)
		return;
	ppi_note(bs, PORTPROF_NOTE_MISSED "threads created later could not be "
	         "attached, and their CPU time is unattributed: %.150s",
	         why->words);
}

static int compare_ids(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

void ppi_perf_scan_threads(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	const struct ppi_target *target = &bs->plan->target;
	struct ppi_diag why;
	int64_t *tids;
	uint64_t now, every_ms = bs->drain_every_ms;
	size_t count;

	if (target->kind == PPI_TARGET_TID ||
	    kernel->get_clock(kernel->self, CLOCK_MONOTONIC, &now) < 0 ||
	    now < state->drain->next_scan_ns ||
	    ppi_perf_target_threads(bs, &tids, &count) < 0)
		return;
	qsort(tids, count, sizeof(*tids), compare_ids);
	/* A look takes 0.15 us a thread, and finds only those whose FORK
	 * record was lost: of a thousand threads four times a second. */
	if (every_ms < count / 4)
		every_ms = count < SCAN_MOST_MS * 4 ? count / 4 : SCAN_MOST_MS;
	state->drain->next_scan_ns = now + every_ms * UINT64_C(1000000);
	for (size_t i = 0; i < count; i++)
		if (!(target->is_self && tids[i] == bs->helper_tid))
			ppi_perf_attach_late(bs, tids[i], &why);
	/* The record of a thread's end may have been lost. */
	for (size_t i = 0; i < state->rings->count; i++) {
		struct perf_ring *ring = &state->rings->all[i];

		if (ring->fd >= 0 && !ring->is_ended &&
		    !bsearch(&ring->tid, tids, count, sizeof(*tids),
		             compare_ids))
			ring->is_ended = true;
	}
	free(tids);
}
