/* SPDX-License-Identifier: MIT */
/*
 * What threads use after their last sample, estimated by sampling the CPUs.
 *
 * A thread's own clock samples it each time it has used a period, so what it
 * uses after the last of those samples, or altogether if it never uses a
 * period, is in none: each inherited event begins a period of its own
 * (kernel/events/core.c, perf_event_alloc). Of many short processes that is
 * nearly all. A CPU's clock, which does not care who runs, meets such a tail
 * with the probability that its length has in periods.
 *
 * So CPUs are sampled too, and a sample that meets one of the target's threads
 * is kept until the thread's own next sample, whose weight is exact and has
 * that time in it, or until the thread ends: then it stands for a part of the
 * tail. What is exact stays exact, and what is estimated is right on the
 * average.
 *
 * Of a process that the target has created, the first periods are estimated
 * as well: its own samples come at the same times after its beginning as those
 * of all its likes, and what such processes do between would never be seen.
 *
 * Where nothing has begun or ended for a while there are few tails, and CPUs are
 * sampled less often: each sample weighs what its clock counted, so estimates
 * are as right on the average.
 */
#include "backends/perf/records/perf_weight.h"
#include "backends/perf/sampling/perf_account.h"
#include "backends/perf/sampling/perf_samples.h"
#include "backends/perf/sampling/perf_sampling.h"
#include "backends/perf/sampling/perf_tails.h"

#include <stdlib.h>
#include <string.h>

/*
 * A thread's events end before its memory is given back (kernel/exit.c,
 * do_exit), which for a short process takes a good part of its time. CPUs meet
 * it there for so long.
 */
#define LAST_NS UINT64_C(1000000000)

/* Periods until like processes are far enough apart. */
enum { YOUNG_PERIODS = 16 };

/* How long nothing has begun or ended when CPUs are sampled less often, how much
 * less, and at what period no less. */
#define QUIET_NS UINT64_C(200000000)
#define QUIET_PERIOD_NS UINT64_C(4000000)
enum { QUIET_PERIODS = 8 };

/* CPU time of other processes, which come and go as they like. The library's
 * own process is never measured by what else its machine does. */
bool ppi_perf_tail_is_of(const struct ppi_backend_session *bs, size_t event)
{
	const struct perf_state *state = perf_state_of(bs);
	const struct ppi_event *what = &bs->plan->events[event];

	return state->layout == PERF_CPU_RINGS && bs->plan->follow_children &&
	       !bs->plan->has_exact_children && !bs->plan->target.is_self &&
	       what->is_cpu_time && what->period &&
	       perf_own(what)->type == PERF_TYPE_SOFTWARE;
}

static uint64_t quiet_period(const struct perf_state *state, uint32_t event)
{
	uint64_t period = state->tallies[event].period;
	uint64_t longer = QUIET_PERIODS * period < QUIET_PERIOD_NS
		? QUIET_PERIODS * period : QUIET_PERIOD_NS;

	return longer > period ? longer : period;
}

/*
 * The scheduler's time slices begin at ticks, and a period of so many ticks
 * would meet them at the same place each time: a little less, on each CPU
 * another. Weights tell how much passed in any case.
 */
uint64_t ppi_perf_tail_period(const struct perf_state *state, uint32_t event,
                              size_t ring)
{
	uint64_t period = state->tails->is_quiet ? quiet_period(state, event)
	                                  : state->tallies[event].period;

	return period - period * (1 + ring % 7) / 97;
}

/* The first sample after a change has been counted for at the other period. */
uint64_t ppi_perf_tail_longest(const struct perf_state *state, uint32_t event,
                               uint64_t time_ns)
{
	uint64_t quiet = quiet_period(state, event);

	return state->tails->is_quiet ||
	       time_ns < state->tails->paced_ns + 2 * quiet
		? quiet : state->tallies[event].period;
}

static int open_on(struct ppi_backend_session *bs, uint32_t event, size_t ring,
                   bool is_large)
{
	const struct perf_state *state = perf_state_of(bs);
	struct perf_session_kind kind = state->kind;
	struct perf_source source = {
		.event = event, .ring = (uint32_t)ring, .tid = PERF_ANYBODY,
		.is_tail = true, .is_large = is_large,
	};
	struct perf_event_attr attr;

	kind.inherits = kind.removes_on_exec = kind.enables_on_exec = false;
	ppi_perf_attr_sample(&kind, &bs->plan->events[event], false, &attr);
	ppi_perf_attr_of_size(state, is_large, &attr);
	attr.sample_period = ppi_perf_tail_period(state, event, ring);
	return ppi_perf_open_beside(bs, &source, &attr);
}

static bool is_tail(const struct perf_source *source)
{
	return source->is_tail;
}

void ppi_perf_tail_open(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	int error = 0;

	for (uint32_t i = 0; i < bs->plan->event_count && error == 0; i++) {
		if (!ppi_perf_tail_is_of(bs, i))
			continue;
		state->tails->is_wanted = true;
		if (!state->weighing->has_values)
			return; /* else perf_family.c would sample CPUs */
		for (size_t ring = 0; ring < state->cpu_count && error == 0;
		     ring++) {
			error = open_on(bs, i, ring, false);
			if (error == 0 && state->stacks->small_bytes)
				error = open_on(bs, i, ring, true);
		}
	}
	if (error < 0)
		ppi_perf_close_beside(bs, is_tail);
	state->tails->is_on = state->tails->is_wanted && error == 0;
	if (state->tails->is_on)
		ppi_note(bs, PORTPROF_NOTE_ESTIMATES "what short processes "
		         "use, and others after their last sample, is an "
		         "estimate");
}

void ppi_perf_tail_enable(struct ppi_backend_session *bs)
{
	const struct perf_state *state = perf_state_of(bs);

	for (size_t i = 0; i < state->source_count; i++)
		if (state->sources[i].is_tail &&
		    !ppi_perf_is_off(state, &state->sources[i]))
			ppi_perf_control(bs, &state->sources[i],
			                 PERF_EVENT_IOC_ENABLE, NULL);
}

static void set_periods(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);

	for (size_t i = 0; i < state->source_count; i++) {
		const struct perf_source *source = &state->sources[i];
		uint64_t period;

		if (!source->is_tail)
			continue;
		period = ppi_perf_tail_period(state, source->event,
		                              source->ring);
		ppi_perf_control(bs, source, PERF_EVENT_IOC_PERIOD, &period);
	}
	state->tails->paced_ns = ppi_perf_record_clock(bs);
}

void ppi_perf_tail_pace(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	uint64_t now = state->drain->until_ns;
	bool is_quiet = state->tails->stirred_ns + QUIET_NS < now &&
	                state->drain->began_ns + QUIET_NS < now;

	if (!state->tails->is_on || state->awaits_exec || now == UINT64_MAX ||
	    is_quiet == state->tails->is_quiet)
		return;
	state->tails->is_quiet = is_quiet;
	set_periods(bs);
}

bool ppi_perf_tail_copy(struct ppi_backend_session *bs, struct perf_tail **tail,
                        const portprof_record *record, const uint64_t *words,
                        size_t word_count)
{
	struct perf_tail *copy = *tail;

	if (!copy || copy->word_room < word_count) {
		free(copy);
		copy = malloc(sizeof(*copy) + word_count * sizeof(*words));
		*tail = copy;
		if (!copy) {
			ppi_note(bs, "out of memory: some estimates of what "
			         "threads used after their last sample are "
			         "missing");
			return false;
		}
		copy->word_room = word_count;
	}
	copy->next = NULL;
	copy->record = *record;
	copy->word_count = word_count;
	memcpy(copy->words, words, word_count * sizeof(*words));
	return true;
}

bool ppi_perf_tail_add(struct ppi_backend_session *bs,
                       const struct perf_tail *tail, uint64_t weight,
                       struct ppi_room *room)
{
	struct perf_tally *tally =
		&perf_state_of(bs)->tallies[tail->record.event];
	portprof_record *record = room->records + room->record_count;

	if (!ppi_room_add(room, &tail->record, tail->words,
	                  tail->word_count * sizeof(tail->words[0])))
		return false;
	/* registers and a stack may follow the chain */
	record->payload_words = tail->record.payload_words;
	record->weight = weight;
	tally->emitted += weight;
	tally->samples++;
	return true;
}

void ppi_perf_tail_keep(struct ppi_backend_session *bs,
                        const portprof_record *record, const uint64_t *words,
                        size_t word_count)
{
	struct perf_thread *thread = ppi_perf_weights_find(
		perf_state_of(bs)->weights, (uint32_t)record->tid);
	struct perf_tail *tail = NULL, **end;

	if (!thread ||
	    !ppi_perf_tail_copy(bs, &tail, record, words, word_count))
		return;
	for (end = &thread->tails; *end; end = &(*end)->next)
		;
	*end = tail;
}

void ppi_perf_tail_drop(struct perf_thread *thread, uint32_t event)
{
	struct perf_tail **at = &thread->tails;

	while (*at) {
		struct perf_tail *tail = *at;

		if (tail->record.event != event) {
			at = &tail->next;
			continue;
		}
		*at = tail->next;
		free(tail);
	}
}

bool ppi_perf_tail_flush(struct ppi_backend_session *bs,
                         struct perf_thread *thread, struct ppi_room *room)
{
	struct perf_tail *tail;

	while (thread && (tail = thread->tails) != NULL) {
		uint64_t weight = tail->record.weight;

		if (!ppi_perf_tail_add(bs, tail, weight, room))
			return false;
		perf_state_of(bs)->tallies[tail->record.event].variance +=
			(double)weight * (double)weight;
		/* If it continues after all, its next sample has that time in
		 * it, too. */
		if (!thread->is_young)
			thread->progress[tail->record.event].emitted += weight;
		thread->tails = tail->next;
		free(tail);
	}
	return true;
}

/* A thread that has ended, as far as its events know. */
struct perf_ending {
	struct perf_ending *next;
	uint64_t time_ns;
	portprof_record record;
	bool is_told;
};

bool ppi_perf_tail_end(struct ppi_backend_session *bs,
                       const portprof_record *record, uint64_t time_ns,
                       bool is_told)
{
	struct perf_state *state = perf_state_of(bs);
	struct perf_thread *thread = ppi_perf_weights_find(
		state->weights, (uint32_t)record->tid);
	struct perf_ending *ending = thread ? malloc(sizeof(*ending)) : NULL;

	if (!ending)
		return false;
	*ending = (struct perf_ending){ NULL, time_ns, *record, is_told };
	if (state->tails->endings)
		state->tails->last_ending->next = ending;
	else
		state->tails->endings = ending;
	state->tails->last_ending = ending;
	state->tails->stirred_ns = time_ns;
	thread->has_ended = true;
	return true;
}

bool ppi_perf_tail_settle(struct ppi_backend_session *bs, uint64_t now_ns,
                          struct ppi_room *room)
{
	struct perf_state *state = perf_state_of(bs);
	struct perf_ending *first;

	while ((first = state->tails->endings) != NULL &&
	       (now_ns == UINT64_MAX || first->time_ns + LAST_NS < now_ns)) {
		uint32_t tid = (uint32_t)first->record.tid;

		if (!ppi_perf_tail_flush(bs,
		                         ppi_perf_weights_find(state->weights,
		                                               tid), room))
			return false;
		if (first->is_told &&
		    !ppi_room_add(room, &first->record, NULL, 0))
			return false;
		ppi_perf_weights_end(state->weights, tid);
		state->tails->endings = first->next;
		free(first);
	}
	return true;
}

void ppi_perf_tail_forget(struct perf_state *state)
{
	struct perf_ending *next;

	for (struct perf_ending *at = state->tails->endings; at; at = next) {
		next = at->next;
		free(at);
	}
	state->tails->endings = NULL;
}

bool ppi_perf_tail_begin(struct ppi_backend_session *bs,
                         const struct perf_seen *fork, struct ppi_room *room)
{
	struct perf_weights *weights = perf_state_of(bs)->weights;
	const struct perf_thread *before =
		ppi_perf_weights_find(weights, fork->tid);
	const struct perf_thread *creator =
		ppi_perf_weights_find(weights, fork->parent_tid);
	bool is_young = fork->pid != fork->parent_pid ||
	                (creator && creator->is_young);
	struct perf_thread *thread;

	/* The number was somebody's before. */
	if (before && before->has_ended &&
	    !ppi_perf_tail_settle(bs, UINT64_MAX, room))
		return false;
	thread = ppi_perf_weights_add(weights, fork->tid);
	perf_state_of(bs)->tails->stirred_ns = fork->time_ns;
	if (thread)
		thread->is_young = is_young;
	return true;
}

void ppi_perf_tail_grow(struct ppi_backend_session *bs,
                        struct perf_thread *thread, uint32_t event)
{
	uint64_t period = perf_state_of(bs)->tallies[event].period;

	thread->is_young = thread->progress[event].counted <
	                   YOUNG_PERIODS * period;
}

bool ppi_perf_tail_flush_all(struct ppi_backend_session *bs,
                             struct ppi_room *room)
{
	const struct perf_weights *weights = perf_state_of(bs)->weights;

	for (size_t i = 0; i < weights->room; i++)
		if (!ppi_perf_tail_flush(bs, weights->slots[i], room))
			return false;
	return true;
}

static bool has_sample(const struct ppi_backend_session *bs,
                       const struct perf_thread *thread)
{
	for (size_t i = 0; i < bs->plan->event_count; i++)
		if (thread->progress[i].emitted)
			return true;
	return false;
}

void ppi_perf_tail_miss(struct ppi_backend_session *bs,
                        const struct perf_thread *thread)
{
	enum { MANY = 20 };
	struct perf_state *state = perf_state_of(bs);

	if (!state->tails->is_wanted || state->tails->is_on ||
	    (thread && has_sample(bs, thread)) ||
	    ++state->tails->missed_threads != MANY)
		return;
	ppi_note(bs, "shares are biased: processes that end within a period "
	         "are in no sample; where CPUs may be sampled they are "
	         "estimated (root, CAP_PERFMON, or sysctl "
	         "kernel.perf_event_paranoid=0); else sample more often");
}
