/* SPDX-License-Identifier: MIT */
/*
 * The weights of samples of inherited clocks, by the threads' own clocks.
 *
 * Where a thread follows another on a CPU that has copies of the same events, the
 * kernel hands the events over and stops nothing. It cannot do so if samples
 * contain the event's count (kernel/events/core.c, perf_event_context_sched_out,
 * nr_no_switch_fast): then each switch of threads stops and starts every event,
 * which takes half of the speed of a program that switches often. So samples of
 * inherited clocks have no count. Instead, whenever rings are looked at, the CPU
 * time of each thread that has samples there is read from the system, and these
 * samples share what the thread used since its last ones. Late and lost interrupts
 * are in that, and time in the kernel where this user may not be sampled there.
 *
 * The clock of a thread that has ended can no longer be read: then a sample has the
 * weight of one period.
 *
 * Where no sample may be in the kernel, a thread that is mostly there goes for many
 * periods without one, and has used much since its last when it ends. Its clock is
 * read on until then, and that time is one more sample at the place of the last. What
 * it used between the last look and its end is estimated when the target has ended: by
 * what it used just before, and no more in all than the event counted.
 */
#include "backends/perf/kernel/perf_proc.h"
#include "backends/perf/records/perf_weight.h"
#include "backends/perf/sampling/perf_account.h"
#include "backends/perf/sampling/perf_rings.h"
#include "backends/perf/sampling/perf_samples.h"
#include "backends/perf/sampling/perf_tails.h"
#include "backends/perf/session/perf_target.h"

#include <stdlib.h>
#include <string.h>

/* More threads are not all asked at a start; each takes some 5 us. */
enum { ASKED_AT_START = 256 };

/* So many threads' clocks are read on after their last samples, each once in that
 * time, and in the longer one while it stands. */
enum { READ_ON_MAX = 64 };
#define READ_ON_NS UINT64_C(40000000)
#define READ_ON_MOST_NS UINT64_C(1000000000)

static bool is_weighed(const struct ppi_backend_session *bs, uint32_t event)
{
	return perf_state_of(bs)->weighing->has_clocks &&
	       event != PERF_CARRIER && bs->plan->events[event].is_cpu_time;
}

/* Samples in the kernel would be there, one in each period. */
static bool reads_on(const struct ppi_backend_session *bs, uint32_t event)
{
	return is_weighed(bs, event) && !bs->plan->events[event].counts_kernel;
}

static bool read_thread(const struct ppi_backend_session *bs, uint32_t tid,
                        uint64_t *ns)
{
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);

	if (bs->plan->target.is_self)
		return kernel->get_clock(kernel->self,
		                         perf_clock_of_thread(tid), ns) == 0;
	return ppi_perf_proc_thread_time(kernel, tid, tid, ns);
}

/* What was used while the session was stopped is in no sample to come. */
static void start_thread(struct ppi_backend_session *bs,
                         struct perf_thread *thread)
{
	uint64_t now;
	bool is_known = read_thread(bs, thread->tid, &now);

	for (uint32_t i = 0; i < bs->plan->event_count; i++) {
		struct perf_progress *progress = &thread->progress[i];

		if (is_known && progress->has_base && progress->stopped_at)
			progress->base += now - progress->stopped_at;
		else
			progress->base = is_known ? now - progress->emitted : 0;
		progress->has_base = is_known;
		progress->stopped_at = 0;
	}
}

/* A thread without a base has begun since the session was started. */
static void stop_thread(struct ppi_backend_session *bs,
                        struct perf_thread *thread)
{
	uint64_t now;

	if (!read_thread(bs, thread->tid, &now))
		return;
	for (uint32_t i = 0; i < bs->plan->event_count; i++) {
		thread->progress[i].stopped_at = now;
		thread->progress[i].has_base = true;
	}
}

static void forget_bases(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);

	state->weighing->has_late_bases = true;
	for (size_t i = 0; i < state->weights->room; i++) {
		struct perf_thread *thread = state->weights->slots[i];

		for (uint32_t j = 0; thread && j < bs->plan->event_count; j++) {
			thread->progress[j].has_base = false;
			thread->progress[j].stopped_at = 0;
		}
	}
}

static void for_all_threads(struct ppi_backend_session *bs,
                            void (*visit)(struct ppi_backend_session *bs,
                                          struct perf_thread *thread))
{
	struct perf_state *state = perf_state_of(bs);
	int64_t *tids;
	size_t count;

	if (state->weighing->has_late_bases ||
	    ppi_perf_target_threads(bs, &tids, &count) < 0)
		return;
	if (count > ASKED_AT_START)
		forget_bases(bs);
	for (size_t i = 0; i < count && !state->weighing->has_late_bases; i++) {
		struct perf_thread *thread = ppi_perf_weights_add(
			state->weights, (uint32_t)tids[i]);

		if (thread)
			visit(bs, thread);
	}
	free(tids);
}

void ppi_perf_clocks_start(struct ppi_backend_session *bs)
{
	if (perf_state_of(bs)->weighing->has_clocks)
		for_all_threads(bs, start_thread);
}

void ppi_perf_clocks_stop(struct ppi_backend_session *bs)
{
	if (perf_state_of(bs)->weighing->has_clocks)
		for_all_threads(bs, stop_thread);
}

/* In a sample, behind its header: perf_event_open(2). */
enum { ID_AT = 8, THREAD_AT = 24 };

/* Whose sample lies in front, or NULL where it is none of a clock. */
static struct perf_progress *whose(struct ppi_backend_session *bs,
                                   const struct perf_buffer *ring,
                                   struct perf_thread **thread)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_source *source =
		ppi_perf_source_of(state, ppi_perf_buffer_word(ring, ID_AT));
	uint64_t numbers = ppi_perf_buffer_word(ring, THREAD_AT);
	uint32_t pid_tid[2];

	if (!source || !is_weighed(bs, source->event))
		return NULL;
	memcpy(pid_tid, &numbers, sizeof(pid_tid));
	*thread = ppi_perf_weights_add(state->weights, pid_tid[1]);
	return *thread ? &(*thread)->progress[source->event] : NULL;
}

/* It was read just now. */
static void note_look(struct perf_progress *progress, uint64_t reached,
                      uint64_t now_ns)
{
	if (now_ns > progress->looked_ns)
		progress->pace = (double)(reached - progress->looked) /
		                 (double)(now_ns - progress->looked_ns);
	if (reached != progress->looked || progress->looked_ns == 0)
		progress->moved_ns = now_ns;
	progress->looked_ns = now_ns;
	progress->looked = progress->reached = reached;
}

/* A thread without a base has begun since the session was started, unless some
 * could not be asked then: it is as if it had used a period for each sample. */
static void reach(struct ppi_backend_session *bs, struct perf_thread *thread,
                  uint32_t event, uint64_t now_ns)
{
	const struct perf_state *state = perf_state_of(bs);
	struct perf_progress *progress = &thread->progress[event];
	uint64_t period = state->tallies[event].period, now;
	uint64_t by_periods = period
		? (progress->emitted / period + progress->waiting) * period : 0;
	bool is_read = read_thread(bs, thread->tid, &now);

	if (is_read && progress->stopped_at && !state->is_running)
		now = progress->stopped_at;
	if (by_periods < progress->emitted)
		by_periods = progress->emitted;
	if (is_read && !progress->has_base) {
		progress->has_base = true;
		if (state->weighing->has_late_bases && now > by_periods)
			progress->base = now - by_periods;
	}
	/* less than before is another thread's, with the number of this one */
	if (is_read && now >= progress->base + progress->reached)
		note_look(progress, now - progress->base, now_ns);
	else if (progress->reached < by_periods)
		progress->reached = by_periods;
	progress->is_read = is_read;
}

/* Count what has come since the last look, then ask the threads it is of. */
static void count_samples(struct ppi_backend_session *bs,
                          struct perf_ring *ring)
{
	struct perf_buffer at = ring->buffer;
	struct perf_thread *thread;
	size_t bytes;

	if (ring->counted_to > at.tail)
		at.tail = ring->counted_to;
	while (at.tail < at.head) {
		struct perf_event_header header;
		uint64_t word = ppi_perf_buffer_word(&at, 0);
		struct perf_progress *progress;

		memcpy(&header, &word, sizeof(header));
		bytes = header.size;
		if (bytes < sizeof(header) || bytes > at.head - at.tail)
			break; /* its reader counts the damage */
		if (header.type == PERF_RECORD_SAMPLE && bytes > THREAD_AT &&
		    (progress = whose(bs, &at, &thread)) != NULL) {
			progress->waiting++;
			progress->is_fresh = true;
			perf_state_of(bs)->weighing->has_fresh_samples = true;
		}
		at.tail += bytes;
	}
	ring->counted_to = at.tail;
}

static void count_all(struct ppi_backend_session *bs)
{
	struct perf_rings *rings = perf_state_of(bs)->rings;

	for (size_t i = 0; i < rings->count; i++)
		if (rings->all[i].fd >= 0 && !rings->all[i].is_side)
			count_samples(bs, &rings->all[i]);
}

/* Without a sample since: how much it has used meanwhile. */
static bool is_due(const struct perf_progress *progress, uint64_t now_ns)
{
	uint64_t since = now_ns - progress->looked_ns;
	uint64_t stood = progress->looked_ns - progress->moved_ns;

	return progress->last && since >= READ_ON_NS &&
	       (since >= stood || since >= READ_ON_MOST_NS);
}

/* What it used beyond that until now, at the pace that it had. */
static double beyond(const struct perf_progress *progress, uint64_t now_ns)
{
	double ahead;

	if (progress->is_read || !progress->looked_ns)
		return 0;
	ahead = (double)progress->looked +
	        progress->pace * (double)(now_ns - progress->looked_ns) -
	        (double)progress->reached;
	return ahead > 0 ? ahead : 0;
}

/* Of one whose time is to be laid somewhere; else NULL. */
static struct perf_progress *unsettled(struct perf_thread *thread, uint32_t event)
{
	struct perf_progress *progress = thread ? &thread->progress[event] : NULL;

	return progress && (progress->last || progress->waiting) ? progress
	                                                         : NULL;
}

/* All has ended: what those that cannot be asked any more used since the last look
 * is not more than what no sample has of all that was counted. */
static void reach_ends(struct ppi_backend_session *bs, uint32_t event,
                       uint64_t now_ns)
{
	const struct perf_weights *weights = perf_state_of(bs)->weights;
	struct perf_tally tally = ppi_perf_tally_now(bs, event);
	double left = (double)tally.total - (double)tally.left_out -
	              (double)tally.emitted;
	double asked = 0, part;

	for (size_t i = 0; i < weights->room; i++) {
		struct perf_progress *progress =
			unsettled(weights->slots[i], event);

		if (!progress)
			continue;
		reach(bs, weights->slots[i], event, now_ns);
		/* a clock that went on after the stop */
		if (!progress->waiting && !tally.is_short &&
		    (double)(progress->reached - progress->emitted) > left)
			progress->reached = progress->emitted +
				(left > 0 ? (uint64_t)left : 0);
		left -= (double)(progress->reached - progress->emitted);
		asked += beyond(progress, now_ns);
	}
	if (tally.is_short || left <= 0 || asked <= 0)
		return;
	part = left < asked ? left / asked : 1;
	for (size_t i = 0; i < weights->room; i++) {
		struct perf_progress *progress =
			unsettled(weights->slots[i], event);

		if (progress)
			progress->reached +=
				(uint64_t)(part * beyond(progress, now_ns));
	}
}

static void reach_all(struct ppi_backend_session *bs, uint64_t now_ns)
{
	struct perf_state *state = perf_state_of(bs);

	state->weighing->read_on = 0;
	for (size_t i = 0; i < state->weights->room; i++) {
		struct perf_thread *thread = state->weights->slots[i];

		for (uint32_t j = 0; thread && j < bs->plan->event_count; j++) {
			struct perf_progress *progress = &thread->progress[j];

			state->weighing->read_on += progress->last != NULL;
			if (!progress->is_fresh && !is_due(progress, now_ns))
				continue;
			progress->is_fresh = false;
			reach(bs, thread, j, now_ns);
		}
	}
}

void ppi_perf_clocks_look(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	struct perf_weighing *weighing = state->weighing;
	uint64_t now_ns;

	if (!weighing->has_clocks)
		return;
	count_all(bs);
	if (!weighing->has_fresh_samples && !weighing->read_on)
		return;
	weighing->has_fresh_samples = false;
	now_ns = ppi_perf_record_clock(bs);
	reach_all(bs, now_ns);
	for (uint32_t i = 0; i < bs->plan->event_count; i++)
		if (!state->is_running && reads_on(bs, i))
			reach_ends(bs, i, now_ns);
}

void ppi_perf_clocks_recount(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);

	if (!state->weighing->has_clocks)
		return;
	for (size_t i = 0; i < state->weights->room; i++)
		for (uint32_t j = 0; state->weights->slots[i] &&
		     j < bs->plan->event_count; j++)
			state->weights->slots[i]->progress[j].waiting = 0;
	for (size_t i = 0; i < state->rings->count; i++)
		state->rings->all[i].counted_to = 0;
	count_all(bs);
}

void ppi_perf_clocks_pass(struct ppi_backend_session *bs,
                          const struct perf_ring *ring)
{
	struct perf_thread *thread;
	struct perf_progress *progress;

	if (!perf_state_of(bs)->weighing->has_clocks || ring->is_side ||
	    ring->front_type != PERF_RECORD_SAMPLE ||
	    ring->front_bytes <= THREAD_AT)
		return;
	progress = whose(bs, &ring->buffer, &thread);
	if (progress && progress->waiting)
		progress->waiting--;
}

uint64_t ppi_perf_clocks_weigh(struct ppi_backend_session *bs, uint32_t event,
                               uint32_t tid)
{
	struct perf_state *state = perf_state_of(bs);
	struct perf_thread *thread =
		ppi_perf_weights_find(state->weights, tid);
	struct perf_progress *progress =
		thread ? &thread->progress[event] : NULL;
	uint64_t weight;

	/* it has the number of one that has ended since it was counted */
	if (!progress || !progress->waiting)
		return state->tallies[event].period;
	weight = (progress->reached - progress->emitted) / progress->waiting;
	progress->emitted += weight;
	return weight;
}

void ppi_perf_clocks_remember(struct ppi_backend_session *bs,
                              const portprof_record *record,
                              const uint64_t *words, size_t word_count)
{
	struct perf_weighing *weighing = perf_state_of(bs)->weighing;
	struct perf_thread *thread;
	struct perf_progress *progress;

	if (!reads_on(bs, record->event))
		return;
	thread = ppi_perf_weights_find(perf_state_of(bs)->weights,
	                               (uint32_t)record->tid);
	progress = thread ? &thread->progress[record->event] : NULL;
	if (!progress || (!progress->last && weighing->read_on >= READ_ON_MAX))
		return;
	weighing->read_on += !progress->last;
	ppi_perf_tail_copy(bs, &progress->last, record, words, word_count);
}

void ppi_perf_clocks_exec(struct ppi_backend_session *bs, uint32_t tid)
{
	struct perf_thread *thread =
		ppi_perf_weights_find(perf_state_of(bs)->weights, tid);

	for (size_t i = 0; thread && i < bs->plan->event_count; i++) {
		ppi_perf_tail_free(thread->progress[i].last);
		thread->progress[i].last = NULL;
	}
}

bool ppi_perf_clocks_end(struct ppi_backend_session *bs,
                         struct perf_thread *thread, struct ppi_room *room)
{
	for (size_t i = 0; i < bs->plan->event_count; i++) {
		struct perf_progress *progress = &thread->progress[i];

		if (!progress->last || progress->waiting)
			continue;
		if (progress->reached > progress->emitted &&
		    !ppi_perf_tail_add(bs, progress->last,
		                       progress->reached - progress->emitted,
		                       room))
			return false;
		progress->emitted = progress->reached;
		ppi_perf_tail_free(progress->last);
		progress->last = NULL;
	}
	return true;
}

bool ppi_perf_clocks_end_all(struct ppi_backend_session *bs,
                             struct ppi_room *room)
{
	const struct perf_weights *weights = perf_state_of(bs)->weights;

	if (!perf_state_of(bs)->weighing->read_on)
		return true;
	for (size_t i = 0; i < weights->room; i++)
		if (weights->slots[i] &&
		    !ppi_perf_clocks_end(bs, weights->slots[i], room))
			return false;
	return true;
}
