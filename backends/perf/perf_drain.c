/* SPDX-License-Identifier: MIT */
/* From the kernel's records to ours: weights, threads, modules, losses. */
#include "backends/perf/perf_state.h"

#include "backends/perf/perf_proc.h"

#include <string.h>
#include <time.h>

portprof_record perf_new_record(const struct perf_state *state,
                                const struct perf_port *port,
                                const struct perf_seen *seen,
                                enum portprof_record_kind kind)
{
	portprof_record record = { .kind = kind };

	record.pid = seen->pid;
	record.tid = seen->tid;
	record.valid = PORTPROF_FIELD_PID | PORTPROF_FIELD_TID;
	if (seen->has_time && state->kind.features & PERF_HAS_CLOCKID) {
		record.time_ns = seen->time_ns;
		record.valid |= PORTPROF_FIELD_TIME;
	}
	if (kind == PORTPROF_RECORD_SAMPLE) {
		record.cpu = seen->has_cpu ? seen->cpu : port->cpu;
		record.valid |= PORTPROF_FIELD_CPU;
	}
	return record;
}

/* Whose records we show: not our helper's, nor those of children that are not
 * followed (a kernel without inherit_thread, or a record of their fork). */
bool perf_is_wanted(const struct ppi_backend_session *bs,
                    const struct perf_seen *seen)
{
	const struct ppi_target *target = &bs->plan->target;

	if (target->is_self && seen->tid == (uint64_t)bs->helper_tid)
		return false;
	return perf_follows(bs->plan) || target->kind == PPI_TARGET_TID ||
	       seen->pid == (uint64_t)target->pid;
}

bool perf_has_room(const struct ppi_room *room, size_t words)
{
	return room->record_count < room->record_room &&
	       words <= room->word_room - room->word_count;
}

static bool take_module(struct ppi_backend_session *bs,
                        const struct perf_port *port,
                        const struct perf_seen *seen, struct ppi_room *room)
{
	unsigned char build_id[PORTPROF_BUILD_ID_BYTES];
	size_t build_id_bytes = seen->build_id_bytes;
	portprof_record record = perf_new_record(perf_state_of(bs), port, seen,
	                                    PORTPROF_RECORD_MODULE);

	if (!bs->plan->want_modules || !perf_is_wanted(bs, seen))
		return true;
	if (!perf_has_room(room, (sizeof(portprof_module) +
	                          strlen(seen->name)) / 8 + 2))
		return false;
	record.address = seen->address;
	record.span = seen->length;
	if (seen->is_kernel)
		record.valid |= PORTPROF_FIELD_KERNEL;
	if (build_id_bytes)
		memcpy(build_id, seen->build_id, build_id_bytes);
	else
		build_id_bytes = perf_build_id(perf_kernel_of(bs->kernel),
		                               seen->pid, seen->name,
		                               build_id, sizeof(build_id));
	return ppi_room_add_module(room, &record, seen->file_offset, build_id,
	                           build_id_bytes, seen->name);
}

static bool take_name(struct ppi_backend_session *bs,
                      const struct perf_port *port,
                      const struct perf_seen *seen, struct ppi_room *room)
{
	portprof_record record = perf_new_record(perf_state_of(bs), port, seen,
	                                    PORTPROF_RECORD_THREAD);

	/* The kernel enabled the events just before it said so. */
	if (seen->is_exec)
		perf_state_of(bs)->awaits_exec = false;
	if (!bs->plan->want_modules || !perf_is_wanted(bs, seen))
		return true;
	perf_remember_name(perf_state_of(bs), seen->tid, seen->name);
	if (seen->is_exec)
		record.valid |= PORTPROF_FIELD_EXEC;
	return ppi_room_add_name(room, &record, seen->name);
}

/* Nobody tells the name of a new thread: it is its creator's. */
static bool name_new_thread(struct ppi_backend_session *bs,
                            const struct perf_port *port,
                            const struct perf_seen *seen,
                            struct ppi_room *room)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_thread *creator =
		perf_weights_find(&state->weights, seen->parent_tid);
	portprof_record record =
		perf_new_record(state, port, seen, PORTPROF_RECORD_THREAD);
	char name[PERF_NAME_BYTES];

	if (!creator || !creator->name[0] || !bs->plan->want_modules ||
	    !perf_is_wanted(bs, seen))
		return true;
	memcpy(name, creator->name, sizeof(name));
	if (!ppi_room_add_name(room, &record, name))
		return false;
	perf_remember_name(state, seen->tid, name);
	return true;
}

/* A process: first that it is there, then its name; there may be room for
 * one of the two only. */
static bool take_new_process(struct ppi_backend_session *bs,
                             const struct perf_port *port,
                             const struct perf_seen *seen,
                             struct ppi_room *room)
{
	struct perf_state *state = perf_state_of(bs);
	portprof_record record =
		perf_new_record(state, port, seen, PORTPROF_RECORD_FORK);

	if (!bs->plan->want_modules || !perf_follows(bs->plan))
		return true;
	record.address = seen->parent_pid;
	if (!state->is_fork_told && !ppi_room_add(room, &record, NULL, 0))
		return false;
	state->is_fork_told = true;
	if (!name_new_thread(bs, port, seen, room))
		return false;
	state->is_fork_told = false;
	return true;
}

static bool take_fork(struct ppi_backend_session *bs,
                      const struct perf_port *port,
                      const struct perf_seen *seen, struct ppi_room *room)
{
	struct perf_state *state = perf_state_of(bs);
	struct ppi_diag why;

	if (seen->pid != seen->parent_pid)
		return take_new_process(bs, port, seen, room);
	if (!name_new_thread(bs, port, seen, room))
		return false;
	if (state->layout == PERF_THREAD_RINGS &&
	    bs->plan->target.kind != PPI_TARGET_TID && perf_is_wanted(bs, seen))
		perf_attach_late(bs, seen->tid, &why);
	return true;
}

static bool take_exit(struct ppi_backend_session *bs, struct perf_port *port,
                      const struct perf_seen *seen, struct ppi_room *room)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_source *carrier = perf_source_of(state, seen->id);
	portprof_record record =
		perf_new_record(state, port, seen, PORTPROF_RECORD_EXIT);
	struct perf_thread *owner;

	if (bs->plan->want_modules && perf_is_wanted(bs, seen) &&
	    !ppi_room_add(room, &record, NULL, 0))
		return false;
	/* A copy ends: its times go to the event that it is a copy of. */
	if (carrier && carrier->tid != seen->tid) {
		owner = perf_weights_find(&state->weights,
		                          (uint32_t)carrier->tid);
		if (owner)
			owner->has_mixed_times = true;
	}
	perf_weights_end(&state->weights, seen->tid);
	if (state->layout == PERF_THREAD_RINGS && port->tid == seen->tid)
		port->is_ended = port->is_exit_seen = true;
	return true;
}

static void take_loss(struct perf_state *state, const struct perf_seen *seen)
{
	state->tallies[0].lost_records += seen->lost;
	perf_weights_mix_all(&state->weights);
}

static bool take_record(struct ppi_backend_session *bs, struct perf_port *port,
                        const struct perf_seen *seen, struct ppi_room *room)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_source *source;

	switch (seen->type) {
	case PERF_RECORD_SAMPLE:
		return perf_take_sample(bs, port, seen, room);
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return take_module(bs, port, seen, room);
	case PERF_RECORD_COMM:
		return take_name(bs, port, seen, room);
	case PERF_RECORD_FORK:
		return take_fork(bs, port, seen, room);
	case PERF_RECORD_EXIT:
		return take_exit(bs, port, seen, room);
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		take_loss(state, seen);
		return true;
	case PERF_RECORD_THROTTLE:
		source = perf_source_of(state, seen->id);
		if (source && source->event != PERF_CARRIER)
			state->tallies[source->event].throttled++;
		return true;
	default:
		return true; /* newer than we are */
	}
}

/*
 * The time before any ring is looked at. What is younger stays in its ring:
 * something that led to it may have gone to a ring that was looked at before.
 */
static uint64_t ordered_until(const struct ppi_backend_session *bs)
{
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	const struct perf_state *state = perf_state_of(bs);
	uint64_t now;

	if (!(state->is_running || state->is_early) ||
	    !(state->kind.features & PERF_HAS_CLOCKID) ||
	    kernel->get_clock(kernel->self, CLOCK_MONOTONIC, &now) < 0)
		return UINT64_MAX;
	return now;
}

/*
 * Rings are emptied as often as the rate asks for, and more often while they
 * fill faster than that: with the mappings of many short processes. Once a
 * nap, because a drain looks at rings several times.
 */
static void adapt_nap(struct ppi_backend_session *bs, uint64_t now_ns)
{
	enum { NAP_LEAST_MS = 4 };
	struct perf_state *state = perf_state_of(bs);
	uint64_t most = 0;

	if (now_ns == UINT64_MAX || now_ns < state->next_adapt_ns)
		return;
	for (size_t i = 0; i < state->port_count; i++) {
		const struct perf_ring *ring = &state->ports[i].ring;
		uint64_t percent = state->ports[i].fd < 0 ? 0 :
			(ring->head - ring->tail) * 100 / ring->data_bytes;

		most = percent > most ? percent : most;
	}
	if (most > 25 && bs->drain_every_ms > NAP_LEAST_MS)
		bs->drain_every_ms /= most > 60 ? 4 : 2;
	else if (most < 5 && bs->drain_every_ms < state->nap_ms)
		bs->drain_every_ms *= 2;
	if (bs->drain_every_ms < NAP_LEAST_MS)
		bs->drain_every_ms = NAP_LEAST_MS;
	if (bs->drain_every_ms > state->nap_ms)
		bs->drain_every_ms = state->nap_ms;
	state->next_adapt_ns = now_ns + bs->drain_every_ms * UINT64_C(500000);
}

/* Its samples may come after we saw that it is gone: forget it last. */
static void retire_ended(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);

	for (size_t i = 0; i < state->port_count; i++) {
		const struct perf_port *port = &state->ports[i];

		if (port->fd < 0 || !port->is_ended ||
		    port->ring.head != port->ring.tail)
			continue;
		if (!port->is_exit_seen)
			perf_weights_end(&state->weights, (uint32_t)port->tid);
		perf_retire_port(bs, i);
	}
}

portprof_status perf_drain_rings(struct ppi_backend_session *bs,
                                 struct ppi_room *room)
{
	struct perf_state *state = perf_state_of(bs);
	uint64_t until;
	size_t at;

	if (!perf_pending_flush(state, room))
		return PORTPROF_OK;
	if (state->layout == PERF_THREAD_RINGS && state->is_running)
		perf_scan_threads(bs);
	until = ordered_until(bs);
	perf_merge_begin(state);
	adapt_nap(bs, until);
	while (perf_merge_oldest(state, until, &at)) {
		struct perf_port *port = &state->ports[at];
		size_t bytes = port->front_bytes;
		const void *record = perf_ring_record(&port->ring, bytes,
		                                      state->scratch);
		struct perf_seen seen;

		/* What cannot be read is a loss that nobody counted. */
		if (!perf_decode(&state->kind.shape, record, bytes, &seen))
			port->ring.damaged++;
		else if (!take_record(bs, port, &seen, room))
			return PORTPROF_OK;
		/* Attaching a thread may have moved the ports. */
		perf_ring_pop(&state->ports[at].ring, bytes);
		perf_merge_advance(state);
	}
	if (state->layout == PERF_THREAD_RINGS)
		retire_ended(bs);
	return PORTPROF_OK;
}
