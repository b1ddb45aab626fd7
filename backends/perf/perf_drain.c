/* SPDX-License-Identifier: MIT */
/* From the kernel's records to ours: weights, threads, modules, losses. */
#include "backends/perf/perf_state.h"

#include "backends/perf/perf_proc.h"

#include <string.h>
#include <time.h>

const struct perf_source *perf_source_of(const struct perf_state *state,
                                         uint64_t id)
{
	size_t low = 0, high = state->source_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (state->sources[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < state->source_count && state->sources[low].id == id
		? &state->sources[low] : NULL;
}

static portprof_record new_record(const struct perf_state *state,
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
static bool is_wanted(const struct ppi_backend_session *bs,
                      const struct perf_seen *seen)
{
	const struct ppi_target *target = &bs->plan->target;

	if (target->is_self && seen->tid == (uint64_t)bs->helper_tid)
		return false;
	return bs->plan->follow_children ||
	       target->kind == PPI_TARGET_TID ||
	       seen->pid == (uint64_t)target->pid;
}

/*
 * A thread that has events of its own and shows samples of those it inherited
 * was caught twice. The inherited ones stay, because they are inherited on.
 */
static bool is_second_copy(struct ppi_backend_session *bs,
                           const struct perf_seen *seen, int64_t owner)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_thread *thread;

	if (state->layout != PERF_CPU_RINGS || owner == seen->tid)
		return false;
	thread = perf_weights_find(&state->weights, seen->tid);
	return thread && thread->is_direct;
}

static uint64_t scaled_value(const struct perf_state *state,
                             const struct perf_seen *seen)
{
	if (!(state->kind.shape.read_format & PERF_FORMAT_TOTAL_TIME_RUNNING) ||
	    seen->running == 0 || seen->running >= seen->thread_time)
		return seen->value;
	return (uint64_t)((long double)seen->value * seen->thread_time /
	                  seen->running);
}

static uint64_t weigh(struct ppi_backend_session *bs,
                      const struct perf_source *source,
                      const struct perf_seen *seen)
{
	struct perf_state *state = perf_state_of(bs);
	const struct ppi_event *event = &bs->plan->events[source->event];
	struct perf_reading reading = {
		.tid = seen->tid,
		.event = source->event,
		.id = source->id,
		.value = event->is_cpu_time ? seen->value
		                            : scaled_value(state, seen),
		.thread_time = event->is_cpu_time ? seen->thread_time : 0,
	};
	uint64_t weight;

	if (perf_is_period_weighted(event))
		return event->period;
	if (!state->has_values)
		return seen->period;
	if (perf_weights_take(&state->weights, &reading, &weight))
		return weight;
	ppi_note(bs, "some threads are weighed by periods: there was no room "
	         "to remember what they had counted");
	return event->period;
}

static bool has_room(const struct ppi_room *room, size_t words)
{
	return room->record_count < room->record_room &&
	       words <= room->word_room - room->word_count;
}

static void add_sample(struct ppi_backend_session *bs,
                       const struct perf_port *port,
                       const struct perf_source *source,
                       const struct perf_seen *seen, struct ppi_room *room)
{
	struct perf_state *state = perf_state_of(bs);
	portprof_record record =
		new_record(state, port, seen, PORTPROF_RECORD_SAMPLE);
	uint64_t *chain = room->words + room->word_count;
	size_t depth;

	record.event = source->event;
	record.address = seen->ip;
	record.span = 1;
	record.samples = 1;
	record.weight = weigh(bs, source, seen);
	state->tallies[source->event].emitted += record.weight;
	if (seen->is_kernel)
		record.valid |= PORTPROF_FIELD_KERNEL;
	if (seen->is_kernel && seen->has_user_ip) {
		record.user_address = seen->user_ip;
		record.valid |= PORTPROF_FIELD_USER_ADDRESS;
	}
	if (state->kind.shape.chain_depth) {
		size_t most = room->word_room - room->word_count;

		if (most > state->kind.shape.chain_depth)
			most = state->kind.shape.chain_depth;
		depth = perf_chain_clean(seen->chain, seen->chain_words, chain,
		                         most);
		/* Always led by the leaf, also where the stack was out of
		 * reach or an empty kernel part came first. */
		if (depth == 0 || chain[0] != seen->ip) {
			chain[0] = seen->ip;
			depth = 1;
		}
		record.valid |= PORTPROF_FIELD_CHAIN;
		record.payload = room->word_count;
		record.payload_words = depth;
		room->word_count += depth;
	}
	room->records[room->record_count++] = record;
}

/* False when there is no room: offer it again. */
static bool take_sample(struct ppi_backend_session *bs,
                        const struct perf_port *port,
                        const struct perf_seen *seen, struct ppi_room *room)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_source *found;
	struct perf_source source;

	if (!is_wanted(bs, seen))
		return true;
	if (!has_room(room, state->kind.shape.chain_depth))
		return false;
	found = perf_source_of(state, seen->id);
	if (!found)
		return true; /* of a source that was dropped */
	source = *found;
	if (is_second_copy(bs, seen, source.tid))
		perf_drop_direct(bs, seen->tid);
	add_sample(bs, port, &source, seen, room);
	return true;
}

static bool take_module(struct ppi_backend_session *bs,
                        const struct perf_port *port,
                        const struct perf_seen *seen, struct ppi_room *room)
{
	unsigned char build_id[PORTPROF_BUILD_ID_BYTES];
	size_t build_id_bytes = seen->build_id_bytes;
	portprof_record record = new_record(perf_state_of(bs), port, seen,
	                                    PORTPROF_RECORD_MODULE);

	if (!bs->plan->want_modules || !is_wanted(bs, seen))
		return true;
	if (!has_room(room, (sizeof(portprof_module) + strlen(seen->name)) / 8
	              + 2))
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
	portprof_record record = new_record(perf_state_of(bs), port, seen,
	                                    PORTPROF_RECORD_THREAD);

	/* The kernel enabled the events just before it said so. */
	if (seen->is_exec)
		perf_state_of(bs)->awaits_exec = false;
	if (!bs->plan->want_modules || !is_wanted(bs, seen))
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
		new_record(state, port, seen, PORTPROF_RECORD_THREAD);
	char name[PERF_NAME_BYTES];

	if (!creator || !creator->name[0] || !bs->plan->want_modules ||
	    !is_wanted(bs, seen))
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
		new_record(state, port, seen, PORTPROF_RECORD_FORK);

	if (!bs->plan->want_modules || !bs->plan->follow_children)
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
	    bs->plan->target.kind != PPI_TARGET_TID && is_wanted(bs, seen))
		perf_attach_late(bs, seen->tid, &why);
	return true;
}

static bool take_exit(struct ppi_backend_session *bs, struct perf_port *port,
                      const struct perf_seen *seen, struct ppi_room *room)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_source *carrier = perf_source_of(state, seen->id);
	portprof_record record =
		new_record(state, port, seen, PORTPROF_RECORD_EXIT);
	struct perf_thread *owner;

	if (bs->plan->want_modules && is_wanted(bs, seen) &&
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
		return take_sample(bs, port, seen, room);
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
		if (source)
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

	if (!state->is_running || !(state->kind.features & PERF_HAS_CLOCKID) ||
	    kernel->get_clock(kernel->self, CLOCK_MONOTONIC, &now) < 0)
		return UINT64_MAX;
	return now;
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
