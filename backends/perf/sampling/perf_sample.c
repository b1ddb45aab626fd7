/* SPDX-License-Identifier: MIT */
/* One sample of the kernel's: whose it is, what it weighs, where it fell. */
#include "backends/perf/records/perf_fields.h"
#include "backends/perf/records/perf_weight.h"
#include "backends/perf/sampling/perf_account.h"
#include "backends/perf/sampling/perf_family.h"
#include "backends/perf/sampling/perf_late.h"
#include "backends/perf/sampling/perf_rings.h"
#include "backends/perf/sampling/perf_samples.h"
#include "backends/perf/sampling/perf_sampling.h"
#include "backends/perf/sampling/perf_tails.h"
#include "backends/perf/session/perf_cpus.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* ---- samples in step with the program ---- */

/* A thread that is silent for so long leaves the place to another. And of
 * how many comparisons the verdict is made. */
enum { PATIENCE = 512, COMPARED = 128 };

static const unsigned shifts[PERF_BEAT_SCALES] = { 6, 9, 12 };

static void begin(struct perf_beat *beat, int64_t tid)
{
	memset(beat, 0, sizeof(*beat));
	beat->tid = tid;
}

static unsigned far_of(unsigned lag)
{
	return PERF_BEAT_FAR / lag * lag;
}

static uint64_t before(const struct perf_beat *beat, unsigned lag)
{
	return beat->recent[(beat->count - lag) % PERF_BEAT_FAR];
}

static void compare(struct perf_beat *beat, uint64_t address)
{
	for (unsigned scale = 0; scale < PERF_BEAT_SCALES; scale++)
		for (unsigned lag = 1; lag <= PERF_BEAT_LAGS; lag++) {
			uint64_t here = address >> shifts[scale];

			beat->same[scale].near[lag] +=
				before(beat, lag) >> shifts[scale] == here;
			beat->same[scale].far[lag] +=
				before(beat, far_of(lag)) >> shifts[scale] ==
				here;
		}
}

/* The least lag at which nearly all are alike, if those below are not. Samples
 * of the C library and of interrupts are between them. */
static unsigned rhythm_of(const uint16_t *near, const uint16_t *far)
{
	for (unsigned lag = 1; lag <= PERF_BEAT_LAGS; lag++) {
		if (near[lag] >= COMPARED * 85 / 100)
			return lag > 1 && far[lag] >= COMPARED * 85 / 100
				? lag : 0;
		if (near[lag] > COMPARED * 65 / 100)
			return 0;
	}
	return 0;
}

unsigned ppi_perf_beat_see(struct perf_beat *beat, int64_t tid,
                           uint64_t address)
{
	unsigned found = 0;

	if (beat->tid == 0 ||
	    (tid != beat->tid && ++beat->strangers > PATIENCE))
		begin(beat, tid);
	if (tid != beat->tid)
		return 0;
	beat->strangers = 0;
	if (beat->count >= PERF_BEAT_FAR)
		compare(beat, address);
	beat->recent[beat->count++ % PERF_BEAT_FAR] = address;
	if (beat->count < PERF_BEAT_FAR + COMPARED)
		return 0;
	for (unsigned i = 0; i < PERF_BEAT_SCALES && !found; i++)
		found = rhythm_of(beat->same[i].near, beat->same[i].far);
	begin(beat, tid);
	return found;
}

/* ---- whose a sample is ---- */

const struct perf_source *ppi_perf_source_of(const struct perf_state *state,
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
	thread = ppi_perf_weights_find(state->weights, seen->tid);
	return thread && thread->is_direct;
}

/* ---- what it weighs ---- */

/* One that is open on several core types did not run while its thread was on
 * the others: that is no share of time to scale by. */
static uint64_t scaled_value(const struct ppi_backend_session *bs,
                             size_t event, const struct perf_seen *seen)
{
	const struct perf_state *state = perf_state_of(bs);

	if (perf_is_split(bs, event) ||
	    !(state->kind.shape.read_format & PERF_FORMAT_TOTAL_TIME_RUNNING) ||
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

/*
 * What a CPU's clock counted since its last sample belongs to what ran there
 * now, unless that is long ago: a CPU may deliver no samples of its idle task,
 * and then nobody knows since when it was busy. One period is what a sample
 * stands for at least.
 */
static uint64_t weigh_on_cpu(uint64_t period, uint64_t since_last)
{
	return since_last >= 2 * period ? period : since_last;
}

static uint64_t weigh(struct ppi_backend_session *bs,
                      const struct perf_ring *ring,
                      const struct perf_source *source,
                      const struct perf_seen *seen)
{
	struct perf_state *state = perf_state_of(bs);
	const struct ppi_event *event = &bs->plan->events[source->event];
	struct perf_reading reading = {
		.tid = seen->tid,
		.pid = seen->pid,
		.event = source->event,
		.id = source->id,
		.value = event->is_cpu_time ? seen->value
		                            : scaled_value(bs, source->event,
		                                           seen),
		.thread_time = event->is_cpu_time ? seen->thread_time : 0,
		.is_second = source->is_large,
	};
	uint64_t period = state->tallies[source->event].period, weight;

	/* The CPU's event runs under every thread. */
	if (state->layout == PERF_SYSTEM_RINGS || source->is_tail) {
		reading.tid = cpu_key(ring->cpu);
		reading.pid = 0;
		reading.thread_time = 0;
	}
	if (perf_is_period_weighted(event))
		return period;
	if (state->weighing->has_clocks && event->is_cpu_time)
		return ppi_perf_clocks_weigh(bs, source->event, seen->tid);
	if (!state->weighing->has_values)
		return state->kind.shape.sample_type & PERF_SAMPLE_PERIOD
			? seen->period : period;
	if (!ppi_perf_weights_take(state->weights, &reading, &weight)) {
		ppi_note(bs, "some threads are weighed by periods: there was "
		         "no room to remember what they had counted");
		return period;
	}
	if (source->is_tail)
		return weigh_on_cpu(ppi_perf_tail_longest(state, source->event,
		                                          seen->time_ns),
		                    weight);
	return ppi_perf_has_idle(bs, source->event)
		? weigh_on_cpu(period, weight)
	                                        : weight;
}

/* ---- what it says, as a record ---- */

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

/* What a tracepoint's string asked for. */
static void add_event_fields(const struct ppi_backend_session *bs,
                             uint32_t event, const struct perf_seen *seen,
                             struct ppi_room *room, portprof_record *record)
{
	const struct perf_raw_field *raw = perf_state_of(bs)->weighing->raw;
	unsigned count = perf_own(&bs->plan->events[event])->asked.field_count;

	if (!raw || !count)
		return;
	record->event_fields = room->word_count;
	for (unsigned i = 0; i < count; i++)
		ppi_perf_raw_add(&raw[event * PERF_RAW_MAX + i], i, seen, room);
	record->event_field_words = room->word_count - record->event_fields;
	if (record->event_field_words)
		record->valid |= PORTPROF_FIELD_EVENT_FIELDS;
}

static uint64_t *free_words(const struct ppi_room *room)
{
	return room->words + room->word_count;
}

/* Whether the user's part of its chain is to be unwound. */
static bool has_context(const struct ppi_backend_session *bs,
                        const struct perf_seen *seen)
{
	return perf_state_of(bs)->kind.shape.stack_bytes &&
	       seen->registers && seen->stack && !seen->is_guest;
}

static size_t context_words(const struct ppi_backend_session *bs,
                            const struct perf_seen *seen)
{
	return has_context(bs, seen)
		? (sizeof(struct ppi_user_context) + seen->stack_bytes) / 8 : 0;
}

/* The user's part of a chain, `most` addresses of it, but for the first, which was
 * not called. */
static uint64_t add_callers(const struct perf_seen *seen, size_t most,
                            uint64_t *callers)
{
	size_t at = ppi_perf_chain_kernel_part(seen->chain, seen->chain_words) +
		2;
	size_t count = 0;

	for (; at < seen->chain_words && count < most &&
	     seen->chain[at] < PERF_CHAIN_MARKER; at++)
		callers[count++] = seen->chain[at];
	return count;
}

static void add_context(const struct ppi_backend_session *bs,
                        const struct perf_seen *seen, size_t most,
                        struct ppi_room *room, portprof_record *record)
{
	const struct perf_registers *registers =
		perf_kernel_of(bs->kernel)->registers;
	uint64_t asked = perf_state_of(bs)->kind.shape.user_mask;
	const uint64_t *value = seen->registers;
	struct ppi_user_context context = {
		.stack_bytes = (uint32_t)(seen->stack_bytes & ~(size_t)7),
		.is_stack_all = seen->is_stack_all,
		.is_32_bit = seen->is_32_bit,
	};
	size_t at = 0;

	for (uint64_t bit = 1; bit; bit <<= 1) {
		if (registers->mask & bit) {
			context.registers[registers->numbers[at]] = *value;
			context.known |= UINT64_C(1) << registers->numbers[at];
			at++;
		}
		value += (asked & bit) != 0;
	}
	context.caller_count = add_callers(
		seen, most, free_words(room) +
		                    (sizeof(context) +
	                             context.stack_bytes) / 8);
	memcpy(free_words(room), &context, sizeof(context));
	room->word_count += sizeof(context) / 8;
	memcpy(free_words(room), seen->stack, context.stack_bytes);
	room->word_count += context.stack_bytes / 8 + context.caller_count;
	record->valid |= PPI_FIELD_CONTEXT;
}

/* Who called whom, leaf first. */
static void add_chain(const struct ppi_backend_session *bs,
                      const struct perf_seen *seen, uint64_t ip,
                      struct ppi_room *room, portprof_record *record)
{
	const struct perf_shape *shape = &perf_state_of(bs)->kind.shape;
	size_t most = room->word_room - room->word_count;
	size_t words = seen->chain_words, depth;
	uint64_t *chain = free_words(room);
	bool is_to_unwind = has_context(bs, seen);

	if (shape->stack_bytes) /* another recorder's event may have it */
		words = ppi_perf_chain_kernel_part(seen->chain, words);
	if (most > shape->chain_depth)
		most = shape->chain_depth;
	depth = ppi_perf_chain_clean(seen->chain, words, chain, most);
	/* Always led by the leaf, also where the stack was out of reach or an
	 * empty kernel part came first. */
	if (is_to_unwind && !seen->is_kernel) {
		depth = 0;
	} else if (depth == 0 || chain[0] != ip) {
		chain[0] = ip;
		depth = 1;
	}
	record->valid |= PORTPROF_FIELD_CHAIN;
	record->payload = room->word_count;
	record->payload_words = depth;
	room->word_count += depth;
	if (is_to_unwind)
		add_context(bs, seen, shape->chain_depth - depth, room, record);
	else if (shape->stack_bytes)
		/* a thread of the kernel's has no other part */
		record->chain_end = seen->is_kernel ? PORTPROF_CHAIN_WHOLE
		                                    : PORTPROF_CHAIN_NO_RULE;
}

/* Where and when, and who called whom; `room` takes that. */
static portprof_record describe(const struct ppi_backend_session *bs,
                                const struct perf_ring *ring,
                                const struct perf_source *source,
                                const struct perf_seen *seen,
                                struct ppi_room *room)
{
	struct perf_state *state = perf_state_of(bs);
	portprof_record record =
		ppi_perf_new_record(state, ring, seen, PORTPROF_RECORD_SAMPLE);
	/* what a guest's register held would be taken for code of the host */
	uint64_t ip = seen->is_guest ? 0 : seen->ip;

	record.event = source->event;
	record.address = ip;
	record.span = 1;
	record.samples = 1;
	if (seen->is_guest)
		record.valid |= PORTPROF_FIELD_GUEST;
	if (seen->is_kernel)
		record.valid |= PORTPROF_FIELD_KERNEL;
	if (seen->is_kernel && seen->has_user_ip) {
		record.user_address = seen->user_ip;
		record.valid |= PORTPROF_FIELD_USER_ADDRESS;
	}
	if (state->kind.shape.chain_depth)
		add_chain(bs, seen, ip, room, &record);
	return record;
}

/* Of the first event's clock, in user code: a kernel's sample tells where that
 * was left. */
static void watch_beat(struct ppi_backend_session *bs,
                       const struct perf_source *source,
                       const struct perf_seen *seen)
{
	struct perf_state *state = perf_state_of(bs);
	const struct ppi_event *event = &bs->plan->events[0];
	uint64_t address = seen->is_kernel ? seen->user_ip : seen->ip;
	unsigned every;

	if (source->event != 0 || !event->is_cpu_time ||
	    state->weighing->has_beat ||
	    state->layout == PERF_SYSTEM_RINGS || seen->is_guest ||
	    (seen->is_kernel && !seen->has_user_ip))
		return;
	every = ppi_perf_beat_see(&state->weighing->beat, seen->tid, address);
	if (!every)
		return;
	state->weighing->has_beat = true;
	ppi_note(bs, "%s: samples are in step with the program: %u of them are "
	         "at the same places as the %u before, and shares may be "
	         "wrong; use a prime rate, such as 101 or 997",
	         event->request.name, every, every);
}

static void add_sample(struct ppi_backend_session *bs,
                       const struct perf_ring *ring,
                       const struct perf_source *source,
                       const struct perf_seen *seen, struct ppi_room *room)
{
	struct perf_tally *tally =
		&perf_state_of(bs)->tallies[source->event];
	size_t first = room->word_count;
	portprof_record record = describe(bs, ring, source, seen, room);

	record.weight = weigh(bs, ring, source, seen);
	ppi_perf_clocks_remember(bs, &record, room->words + first,
	                         room->word_count - first);
	watch_beat(bs, source, seen);
	tally->emitted += record.weight;
	tally->samples++;
	ppi_perf_late_met(bs, source->event, seen->pid, record.weight);
	if (ppi_perf_has_idle(bs, source->event))
		tally->variance +=
			(double)record.weight * (double)record.weight;
	if (bs->plan->sample_fields) {
		add_values(seen, room, &record);
		ppi_perf_fields_add(bs->plan->sample_fields, seen, room,
		                    &record);
	}
	add_event_fields(bs, source->event, seen, room, &record);
	room->records[room->record_count++] = record;
}

/* ---- what is done with it ---- */

/*
 * Of CPUs: their clocks run on when nobody does, in the idle task (process 0),
 * and with those who are not the target; our helper is in no profile. Their weight
 * is taken, so that the next sample does not stand for it, and left out.
 */
static bool is_nobody(struct ppi_backend_session *bs,
                      const struct perf_source *source,
                      const struct perf_seen *seen)
{
	const struct ppi_event *event = &bs->plan->events[source->event];
	const struct perf_state *state = perf_state_of(bs);

	if (state->layout != PERF_SYSTEM_RINGS)
		return false;
	return seen->tid == (uint64_t)bs->helper_tid ||
	       (seen->pid == 0 && event->unit == PORTPROF_UNIT_NANOSECONDS) ||
	       state->awaits_exec || !ppi_perf_is_of_target(bs, seen);
}

/*
 * Whose sample it is. Where it reads no count it may bear the id of an event of
 * another session, which does not matter where a ring has one event's samples.
 */
static bool find_source(const struct ppi_backend_session *bs,
                        const struct perf_seen *seen,
                        struct perf_source *source)
{
	const struct perf_state *state = perf_state_of(bs);
	const struct perf_source *found = ppi_perf_source_of(state, seen->id);

	if (found)
		*source = *found;
	else if (!state->weighing->has_values && bs->plan->event_count == 1 &&
	         perf_is_occurrence(&bs->plan->events[0]))
		*source = (struct perf_source){ .tid = seen->tid };
	else
		return false;
	return true;
}

/*
 * Whether it bears the id of one that only counts along: the kernel filled it in for
 * another recorder's event, and its group's are read from the leader on. It is of the
 * one that is sampled, then.
 */
static bool find_sampled(const struct ppi_backend_session *bs,
                         struct perf_seen *seen)
{
	const struct perf_state *state = perf_state_of(bs);
	const struct perf_source *found = ppi_perf_source_of(state, seen->id);

	if (!found || found->event == PERF_CARRIER ||
	    perf_is_sampled(&bs->plan->events[found->event]))
		return false;
	for (size_t i = 0; i < seen->value_count && seen->has_value_ids; i++) {
		found = ppi_perf_source_of(
			state, seen->values[i * seen->value_step + 1]);
		if (!found || !perf_is_sampled(&bs->plan->events[found->event]))
			continue;
		ppi_perf_seen_choose(seen, i);
		return true;
	}
	return false;
}

/* It is some event's, and nobody can know which one's. */
static void count_unclear(struct ppi_backend_session *bs)
{
	const struct ppi_plan *plan = bs->plan;
	size_t event = 0;

	while (event + 1 < plan->event_count &&
	       !perf_is_occurrence(&plan->events[event]))
		event++;
	perf_state_of(bs)->tallies[event].unclear++;
	ppi_note(bs,
	         "samples that the kernel filled in for another recorder of "
	         "the same event are counted as lost, and it is not certain "
	         "how many there are, nor of which event");
}

/* Our helper's; on kernels that give children copies of a thread's events, a
 * child's, too. */
static bool is_left_out(const struct ppi_backend_session *bs,
                        const struct perf_seen *seen)
{
	const struct perf_session_kind *kind = &perf_state_of(bs)->kind;

	return (bs->plan->target.is_self &&
	        seen->tid == (uint64_t)bs->helper_tid) ||
	       (kind->inherits && !kind->follows_children &&
	        !(kind->features & PERF_HAS_INHERIT_THREAD));
}

/* Whether an id that is not known is one of ours, closed since because its
 * thread was caught twice: what its samples stand for is in the other's. */
static bool was_dropped(const struct ppi_backend_session *bs)
{
	const struct ppi_plan *plan = bs->plan;

	if (perf_state_of(bs)->weighing->has_values)
		return true;
	for (size_t i = 0; i < plan->event_count; i++)
		if (perf_is_occurrence(&plan->events[i]))
			return false;
	return true;
}

/* A sample of a CPU, of any thread. */
static void keep_tail(struct ppi_backend_session *bs,
                      const struct perf_ring *ring,
                      const struct perf_source *source,
                      const struct perf_seen *seen)
{
	const struct perf_state *state = perf_state_of(bs);
	struct ppi_room room = { .words = state->tails->words,
		                 .word_room = PERF_PAYLOAD_WORDS };
	uint64_t weight = weigh(bs, ring, source, seen);
	portprof_record record;

	/* Somebody else's, or of a command that is not there yet. */
	if (state->awaits_exec ||
	    !ppi_perf_weights_find(state->weights, seen->tid))
		return;
	record = describe(bs, ring, source, seen, &room);
	record.weight = weight;
	ppi_perf_tail_keep(bs, &record, room.words, room.word_count);
}

/* A thread leaves a CPU: one of the target's, not the idle task. */
static void keep_leave(struct ppi_backend_session *bs,
                       const struct perf_ring *ring,
                       const struct perf_seen *seen)
{
	const struct perf_state *state = perf_state_of(bs);
	struct ppi_room room = { .words = state->tails->words,
		                 .word_room = PERF_PAYLOAD_WORDS };
	struct perf_source source = { .event = state->late->event };
	portprof_record record;

	state->late->sampled++;
	if (state->awaits_exec || seen->pid == 0 ||
	    seen->tid == (uint64_t)bs->helper_tid ||
	    !ppi_perf_is_of_target(bs, seen))
		return;
	record = describe(bs, ring, &source, seen, &room);
	ppi_perf_late_left(bs, &record, room.words, room.word_count);
}

/*
 * A thread's own sample, where CPUs are sampled beside: it stands for all that
 * the thread used since the last; or that is what was kept, of a young process.
 */
static bool take_own(struct ppi_backend_session *bs,
                     const struct perf_ring *ring,
                     const struct perf_source *source,
                     const struct perf_seen *seen, struct ppi_room *room)
{
	struct perf_weights *weights = perf_state_of(bs)->weights;
	struct perf_thread *thread = ppi_perf_weights_find(weights, seen->tid);

	if (thread && thread->is_young) {
		if (!ppi_perf_tail_flush(bs, thread, room))
			return false;
		weigh(bs, ring, source, seen);
		ppi_perf_tail_grow(bs, thread, source->event);
		return true;
	}
	if (thread)
		ppi_perf_tail_drop(thread, source->event);
	add_sample(bs, ring, source, seen, room);
	return true;
}

/* False when there is no room: offer it again. */
bool ppi_perf_take_sample(struct ppi_backend_session *bs,
                          const struct perf_ring *ring,
                          const struct perf_seen *seen, struct ppi_room *room)
{
	struct perf_state *state = perf_state_of(bs);
	struct perf_source source;
	struct perf_seen own;

	if (seen->value_count > 1 && seen->is_shared) {
		own = *seen;
		if (find_sampled(bs, &own))
			seen = &own;
	}
	if (!state->family->bits && !ppi_perf_is_wanted(bs, seen)) {
		/* else another recorder's pid namespace gave the numbers */
		if (!is_left_out(bs, seen))
			count_unclear(bs);
		return true;
	}
	if (!ppi_perf_has_room(room, state->kind.shape.chain_depth +
	                         context_words(bs, seen) +
	                         ppi_perf_fields_words(seen) + values_of(seen) +
	                         (state->weighing->raw ? PERF_RAW_WORDS : 0)))
		return false;
	if (!find_source(bs, seen, &source)) {
		if (!was_dropped(bs))
			count_unclear(bs);
		return true;
	}
	if (source.is_leave) {
		keep_leave(bs, ring, seen);
		return true;
	}
	if (is_nobody(bs, &source, seen)) {
		uint64_t weight = weigh(bs, ring, &source, seen);

		state->tallies[source.event].left_out += weight;
		if (seen->pid != 0 && seen->tid == (uint64_t)bs->helper_tid)
			state->tallies[source.event].helper += weight;
		return true;
	}
	if (source.is_tail) {
		keep_tail(bs, ring, &source, seen);
		return true;
	}
	if (is_second_copy(bs, seen, source.tid))
		ppi_perf_drop_direct(bs, seen->tid);
	if (state->tails->is_on && ppi_perf_tail_is_of(bs, source.event))
		return take_own(bs, ring, &source, seen, room);
	add_sample(bs, ring, &source, seen, room);
	return true;
}
