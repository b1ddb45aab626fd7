/* SPDX-License-Identifier: MIT */
/* One sample of the kernel's: whose it is, what it weighs, where it fell. */
#include "backends/perf/perf_state.h"

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

/* One that is open on several core types did not run while its thread was on
 * the others: that is no share of time to scale by. */
static uint64_t scaled_value(const struct ppi_backend_session *bs,
                             size_t event, const struct perf_seen *seen)
{
	const struct perf_state *state = perf_state_of(bs);

	if (perf_is_split(bs, event) || !(state->kind.shape.read_format & PERF_FORMAT_TOTAL_TIME_RUNNING) ||
	    seen->running == 0 || seen->running >= seen->thread_time)
		return seen->value;
	return (uint64_t)((long double)seen->value * seen->thread_time /
	                  seen->running);
}

/* CPUs are beyond all thread ids (include/linux/threads.h, PID_MAX_LIMIT). */
static uint32_t cpu_key(uint32_t cpu)
{
	return UINT32_C(1) << 31 | cpu;
}

static uint64_t weigh(struct ppi_backend_session *bs,
                      const struct perf_port *port,
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
		                            : scaled_value(bs, source->event, seen),
		.thread_time = event->is_cpu_time ? seen->thread_time : 0,
	};
	uint64_t weight;

	/* The CPU's event goes on whoever runs there. */
	if (state->layout == PERF_SYSTEM_RINGS) {
		reading.tid = cpu_key(port->cpu);
		reading.thread_time = 0;
	}
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

static size_t branches_of(const struct perf_seen *seen)
{
	return seen->branch_count < PERF_BRANCHES_MAX ? seen->branch_count
	                                              : PERF_BRANCHES_MAX;
}

static size_t values_of(const struct perf_seen *seen)
{
	return seen->value_count < PERF_EVENTS_MAX ? seen->value_count
	                                           : PERF_EVENTS_MAX;
}

static void add_values(const struct perf_seen *seen, struct ppi_room *room,
                       portprof_record *record)
{
	size_t count = values_of(seen);

	if (count == 0)
		return;
	record->values = room->word_count;
	record->value_count = count;
	record->valid |= PORTPROF_FIELD_GROUP_VALUES;
	for (size_t i = 0; i < count; i++)
		room->words[room->word_count++] =
			seen->values[i * seen->value_step];
}

/* What only some hardware tells, of what was asked for. */
static void add_fields(const struct perf_seen *seen, struct ppi_room *room,
                       portprof_record *record)
{
	size_t count = branches_of(seen);

	if (seen->data_address) {
		record->data_address = seen->data_address;
		record->valid |= PORTPROF_FIELD_DATA_ADDRESS;
	}
	if (seen->latency) {
		record->latency = seen->latency;
		record->valid |= PORTPROF_FIELD_LATENCY;
	}
	if (count == 0)
		return;
	record->branches = room->word_count;
	record->branch_count = count;
	record->valid |= PORTPROF_FIELD_BRANCHES;
	for (size_t i = 0; i < count; i++) {
		room->words[room->word_count++] = seen->branches[3 * i];
		room->words[room->word_count++] = seen->branches[3 * i + 1];
	}
}

static void add_sample(struct ppi_backend_session *bs,
                       const struct perf_port *port,
                       const struct perf_source *source,
                       const struct perf_seen *seen, struct ppi_room *room)
{
	struct perf_state *state = perf_state_of(bs);
	portprof_record record =
		perf_new_record(state, port, seen, PORTPROF_RECORD_SAMPLE);
	uint64_t *chain = room->words + room->word_count;
	size_t depth;

	record.event = source->event;
	record.address = seen->ip;
	record.span = 1;
	record.samples = 1;
	record.weight = weigh(bs, port, source, seen);
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
	if (bs->plan->sample_fields) {
		add_values(seen, room, &record);
		add_fields(seen, room, &record);
	}
	room->records[room->record_count++] = record;
}

/*
 * Of the whole system: a CPU's clock runs on when nobody does, in the idle task
 * (process 0), and our helper is in no profile. Their weight is taken, so that
 * the next sample does not stand for it, and left out.
 */
static bool is_nobody(const struct ppi_backend_session *bs,
                      const struct perf_source *source,
                      const struct perf_seen *seen)
{
	const struct ppi_event *event = &bs->plan->events[source->event];

	if (perf_state_of(bs)->layout != PERF_SYSTEM_RINGS)
		return false;
	return seen->tid == (uint64_t)bs->helper_tid ||
	       (seen->pid == 0 && event->unit == PORTPROF_UNIT_NANOSECONDS);
}

/* False when there is no room: offer it again. */
bool perf_take_sample(struct ppi_backend_session *bs,
                      const struct perf_port *port,
                      const struct perf_seen *seen, struct ppi_room *room)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_source *found;
	struct perf_source source;

	if (!perf_is_wanted(bs, seen))
		return true;
	if (!perf_has_room(room, state->kind.shape.chain_depth +
	                         2 * branches_of(seen) + values_of(seen)))
		return false;
	found = perf_source_of(state, seen->id);
	if (!found)
		return true; /* of a source that was dropped */
	source = *found;
	if (is_nobody(bs, &source, seen)) {
		uint64_t weight = weigh(bs, port, &source, seen);

		state->tallies[source.event].left_out += weight;
		return true;
	}
	if (is_second_copy(bs, seen, source.tid))
		perf_drop_direct(bs, seen->tid);
	add_sample(bs, port, &source, seen, room);
	return true;
}
