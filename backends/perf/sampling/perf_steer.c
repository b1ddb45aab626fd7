/* SPDX-License-Identifier: MIT */
/*
 * Changes to an open session. By itself: whole copies of stacks once chains are cut,
 * longer periods where samples take too long. On request: rates, single events,
 * numbers of samples, threads.
 */
#include "backends/perf/kernel/perf_proc.h"
#include "backends/perf/kernel/perf_rate.h"
#include "backends/perf/sampling/perf_account.h"
#include "backends/perf/sampling/perf_late.h"
#include "backends/perf/sampling/perf_rings.h"
#include "backends/perf/sampling/perf_samples.h"
#include "backends/perf/sampling/perf_sampling.h"
#include "backends/perf/sampling/perf_sides.h"
#include "backends/perf/sampling/perf_tails.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
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
	    state->sides->has_carriers &&
	    (state->weighing->has_values || state->weighing->has_clocks) &&
	    state->kind.shape.stack_bytes > SMALL &&
	    needed * EVENTS_SHARE < available)
		state->stacks->small_bytes = SMALL;
}

/* Of two that differ in the size of stacks one is off. */
static bool is_of_other_size(const struct perf_state *state,
                             const struct perf_source *source)
{
	return state->stacks->small_bytes &&
	       source->is_large != state->stacks->is_grown;
}

bool ppi_perf_is_off(const struct perf_state *state,
                     const struct perf_source *source)
{
	if (source->is_leave)
		return !state->late->is_on;
	return source->event != PERF_CARRIER &&
	       (state->tallies[source->event].is_off ||
	        is_of_other_size(state, source));
}

void ppi_perf_attr_of_size(const struct perf_state *state, bool is_large,
                           struct perf_event_attr *attr)
{
	if (!state->stacks->small_bytes)
		return;
	if (is_large)
		attr->enable_on_exec =
			state->stacks->is_grown && attr->enable_on_exec;
	else
		attr->sample_stack_user = state->stacks->small_bytes;
}

static void switch_size(struct ppi_backend_session *bs, bool is_large,
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

	if (!state->stacks->small_bytes || state->stacks->is_grown ||
	    state->awaits_exec)
		return;
	state->stacks->is_grown = true;
	if (!state->is_running)
		return;
	switch_size(bs, false, PERF_EVENT_IOC_DISABLE);
	switch_size(bs, true, PERF_EVENT_IOC_ENABLE);
	ppi_note(bs, "call chains were truncated: %u bytes of each stack are "
	         "copied now, %u before%s", state->kind.shape.stack_bytes,
	         state->stacks->small_bytes,
	         state->kind.shape.stack_bytes < bs->plan->stack_bytes &&
	         !state->rings->is_lock_limited
	         ? "; buffers hold no more at this rate" : "");
}

/* ---- what measuring adds to the threads that are measured ---- */

/* Threads that were attached one by one have events of their own, which change
 * places with none: perf_clocks.c. Of one and its kin only those do that are read. */
static bool stops_at_switches(const struct perf_state *state)
{
	int64_t first = 0;

	if (state->layout == PERF_SYSTEM_RINGS)
		return false;
	if (state->layout == PERF_THREAD_RINGS || state->weighing->has_values)
		return true;
	for (size_t i = 0; i < state->source_count; i++) {
		const struct perf_source *source = &state->sources[i];

		if (source->tid == PERF_ANYBODY)
			continue;
		if (first && source->tid != first)
			return true;
		first = source->tid;
	}
	return false;
}

static void measure_costs(const struct ppi_backend_session *bs,
                          uint64_t *sample_ns, uint64_t *switch_ns)
{
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);

	*sample_ns = ppi_perf_rate_interrupt_ns(kernel);
	*switch_ns = stops_at_switches(perf_state_of(bs))
		? ppi_perf_rate_switch_ns(kernel) : 0;
}

const struct ppi_costs_ops ppi_perf_costs = {
	.measure = measure_costs,
};

/* ---- does the rate that was granted hold while it runs? ---- */

enum { LATE_SAMPLES = 50 }; /* enough of them to judge by */

/* How often it is asked. */
#define LOOK_NS UINT64_C(2000000000)

static bool is_timed_clock(const struct ppi_event *event)
{
	return perf_own(event)->type == PERF_TYPE_SOFTWARE && event->period &&
	       event->unit == PORTPROF_UNIT_NANOSECONDS;
}

/*
 * Samples stand for more than twice their period: interrupts take longer than
 * that. Told by events alone that see all that their clock counts; those of one
 * mode, and of CPUs that idle, have fewer samples for another reason.
 */
static bool is_late(struct ppi_backend_session *bs, size_t at)
{
	const struct perf_state *state = perf_state_of(bs);
	const struct ppi_event *event = &bs->plan->events[at];
	struct perf_tally *tally = &state->tallies[at], lost = { 0 };
	uint64_t samples = tally->samples - tally->seen_samples;
	uint64_t weight = tally->emitted - tally->seen_emitted;
	uint64_t expected;

	if (!event->counts_user || !event->counts_kernel ||
	    state->layout == PERF_SYSTEM_RINGS || samples < LATE_SAMPLES)
		return false;
	tally->seen_samples = tally->samples;
	tally->seen_emitted = tally->emitted;
	if (weight / 2 / tally->period <= samples)
		return false;
	/* what was lost had its interrupt, too */
	for (size_t i = 0; i < state->source_count; i++)
		if (state->sources[i].event == at)
			ppi_perf_tally_source(bs, &state->sources[i], &lost);
	expected = samples + lost.lost - tally->seen_lost;
	tally->seen_lost = lost.lost;
	return weight / 2 / tally->period > expected;
}

static void slow_down(struct ppi_backend_session *bs, size_t at,
                      uint64_t period)
{
	struct perf_state *state = perf_state_of(bs);

	state->tallies[at].period = period;
	for (size_t i = 0; i < state->source_count; i++) {
		const struct perf_source *source = &state->sources[i];
		uint64_t own = period;

		if (source->event != at)
			continue;
		if (source->is_tail)
			own = ppi_perf_tail_period(state, source->event,
			                           source->ring);
		ppi_perf_control(bs, source, PERF_EVENT_IOC_PERIOD, &own);
	}
	ppi_note(bs, "%s: slowed down to %llu Hz while running: each sample "
	         "took more than a quarter of its period%s",
	         bs->plan->events[at].request.name,
	         1000000000ull / (unsigned long long)period,
	         state->kind.inherits
	         ? "; threads that began before keep their rate until they end"
	         : "");
}

void ppi_perf_rate_watch(struct ppi_backend_session *bs, uint64_t now_ns)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	uint64_t needed = 0;

	if (!state->is_running || now_ns < state->drain->next_rate_look_ns)
		return;
	state->drain->next_rate_look_ns = now_ns + LOOK_NS;
	for (size_t i = 0; i < bs->plan->event_count; i++) {
		uint64_t period = state->tallies[i].period;

		if (!is_timed_clock(&bs->plan->events[i]) ||
		    period >= PERF_PERIOD_FREE_NS)
			continue;
		if (needed == 0)
			needed = ppi_perf_rate_harmless_ns(kernel);
		if (needed > period + period / 2)
			slow_down(bs, i, needed);
		else if (is_late(bs, i))
			slow_down(bs, i, 2 * period);
	}
}

/* ---- on request ---- */

static const char *text_of(const struct ppi_backend_session *bs, size_t event)
{
	return bs->plan->events[event].request.text;
}

static bool is_clock(const struct ppi_event *event)
{
	return event->unit == PORTPROF_UNIT_NANOSECONDS;
}

/* Make one call for each of the event's own descriptors. */
static portprof_status control_event(struct ppi_backend_session *bs,
                                     size_t event, unsigned long request,
                                     void *arg, struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	int failed = 0;

	for (size_t i = 0; i < state->source_count; i++) {
		const struct perf_source *source = &state->sources[i];
		int error = 0;

		if (source->event == event &&
		    (request == PERF_EVENT_IOC_PERIOD ||
		     !is_of_other_size(state, source)))
			error = ppi_perf_control(bs, source, request, arg);
		failed = error < 0 ? -error : failed;
	}
	if (failed == 0)
		return PORTPROF_OK;
	return ppi_fail(why, PORTPROF_E_SYSTEM, failed, "steer", "the kernel "
	                "refused to change the open event '%s': %s",
	                text_of(bs, event), strerror(failed));
}

static portprof_status check_sampled(const struct ppi_backend_session *bs,
                                     size_t event, struct ppi_diag *why)
{
	if (perf_is_sampled(&bs->plan->events[event]))
		return PORTPROF_OK;
	return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, "steer", "'%s' counts "
	                "along with the event of its group that is sampled: "
	                "steer that", text_of(bs, event));
}

/* ---- on request: periods and rates ---- */

/* The copies that children have keep theirs: kernel/events/core.c,
 * _perf_event_period. */
static void say_who_keeps(struct ppi_backend_session *bs, size_t event)
{
	if (perf_state_of(bs)->kind.inherits)
		ppi_note(bs, "'%s' was given another rate while running: "
		         "threads that began since the session was opened, and "
		         "before that, keep theirs", text_of(bs, event));
}

static portprof_status set_period(struct ppi_backend_session *bs, size_t event,
                                  uint64_t period, struct ppi_diag *why)
{
	struct perf_tally *tally = &perf_state_of(bs)->tallies[event];
	const struct ppi_event *what = &bs->plan->events[event];
	portprof_status status;

	if (what->rate_hz)
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, "steer",
		                "'%s' was opened with a rate, which the kernel "
		                "keeps: set 'frequency', or open it with a "
		                "period", what->request.text);
	if (is_clock(what))
		period =
			ppi_perf_rate_grant(perf_kernel_of(bs->kernel), period);
	status = control_event(bs, event, PERF_EVENT_IOC_PERIOD, &period, why);
	if (status == PORTPROF_OK) {
		tally->period = period;
		say_who_keeps(bs, event);
	}
	return status;
}

static portprof_status set_rate(struct ppi_backend_session *bs, size_t event,
                                uint64_t rate_hz, struct ppi_diag *why)
{
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	const struct ppi_event *what = &bs->plan->events[event];
	uint64_t most = ppi_perf_rate_allowed_hz(kernel);
	portprof_status status;

	rate_hz = rate_hz < most ? rate_hz : most;
	if (is_clock(what))
		return set_period(bs, event,
		                  ppi_perf_rate_period(kernel, rate_hz), why);
	if (!what->rate_hz)
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, "steer",
		                "'%s' was opened with a period, which the "
		                "kernel keeps: set 'period', or open it with a "
		                "rate", what->request.text);
	status = control_event(bs, event, PERF_EVENT_IOC_PERIOD, &rate_hz,
	                       why);
	if (status == PORTPROF_OK) {
		perf_state_of(bs)->tallies[event].rate_hz = rate_hz;
		say_who_keeps(bs, event);
	}
	return status;
}

/* ---- on request: one event of several ---- */

/* Without carriers the first event reports mappings and threads, which it does
 * only while it is on. */
static portprof_status check_may_end(const struct ppi_backend_session *bs,
                                     size_t event, struct ppi_diag *why)
{
	const struct perf_state *state = perf_state_of(bs);

	if (state->awaits_exec)
		return ppi_fail(why, PORTPROF_E_STATE, 0, "steer", "the "
		                "command has not started yet, and starts with "
		                "all events");
	if (event > 0 || state->sides->has_carriers)
		return PORTPROF_OK;
	return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, "steer", "'%s' reports "
	                "code and threads, too, and has to stay enabled: "
	                "require lost-exact when the session is opened, which "
	                "gives that to an event of its own",
	                text_of(bs, event));
}

static portprof_status set_enabled(struct ppi_backend_session *bs,
                                   size_t event, bool is_on,
                                   struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	struct perf_tally *tally = &state->tallies[event];
	portprof_status status = check_may_end(bs, event, why);

	if (status == PORTPROF_OK && state->is_running)
		status = control_event(bs, event, is_on ? PERF_EVENT_IOC_ENABLE
		                       : PERF_EVENT_IOC_DISABLE, NULL, why);
	if (status)
		return status;
	tally->is_off = !is_on;
	tally->was_off |= !is_on;
	return PORTPROF_OK;
}

/* ---- on request: so many samples ---- */

/* The kernel counts them for each of its events, and not for inherited ones
 * (kernel/events/core.c, perf_event_refresh): exact where there is one. */
static portprof_status set_samples_left(struct ppi_backend_session *bs,
                                        size_t event, uint64_t samples,
                                        struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	portprof_status status = check_may_end(bs, event, why);
	size_t count = 0;

	for (size_t i = 0; i < state->source_count; i++)
		count += state->sources[i].event == event &&
		         !is_of_other_size(state, &state->sources[i]);
	if (status == PORTPROF_OK && !state->is_running)
		status = ppi_fail(why, PORTPROF_E_STATE, 0, "steer", "samples "
		                  "can be counted down while the session runs: "
		                  "start it first");
	if (status == PORTPROF_OK && (count != 1 || state->kind.inherits))
		status = ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, "steer",
		                  "the kernel counts samples down for one "
		                  "thread: bind the session to it "
		                  "(PORTPROF_TARGET_THREAD, PORTPROF_TARGET_TID)");
	if (status == PORTPROF_OK && samples > INT_MAX)
		status = ppi_fail(why, PORTPROF_E_INVALID, 0, "steer", "%"
		                  PRIu64 " samples are more than the kernel "
		                  "counts down: %d", samples, INT_MAX);
	if (status == PORTPROF_OK)
		status = control_event(bs, event, PERF_EVENT_IOC_REFRESH,
		                       (void *)(intptr_t)samples, why);
	if (status)
		return status;
	state->tallies[event].is_off = false;
	state->tallies[event].was_off = true;
	return PORTPROF_OK;
}

/* ---- on request: threads chosen one by one ---- */

/* It has its own ring, and no other layout can do without a thread. */
static portprof_status check_thread(const struct ppi_backend_session *bs,
                                    uint64_t tid, struct ppi_diag *why)
{
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	const struct ppi_target *target = &bs->plan->target;
	char name[64];

	if (target->kind != PPI_TARGET_TID)
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, "steer", "the "
		                "session measures all threads of its target: "
		                "bind it to one (PORTPROF_TARGET_THREAD, "
		                "PORTPROF_TARGET_TID) to add others");
	if (target->is_self && tid == (uint64_t)bs->helper_tid)
		return ppi_fail(why, PORTPROF_E_INVALID, 0, "steer", "thread %"
		                PRIu64 " is the library's own: it is in no "
		                "profile", tid);
	if (!ppi_perf_proc_thread_name(kernel, target->pid, (int64_t)tid, name,
	                               sizeof(name)))
		return ppi_fail(why, PORTPROF_E_NOTFOUND, ESRCH, "steer",
		                "process %lld has no thread %" PRIu64,
		                (long long)target->pid, tid);
	return PORTPROF_OK;
}

static bool is_measured(const struct perf_state *state, uint64_t tid)
{
	for (size_t i = 0; i < state->rings->count; i++)
		if (state->rings->all[i].fd != PERF_RING_FREE &&
		    state->rings->all[i].tid == (int64_t)tid &&
		    !state->rings->all[i].is_ended)
			return true;
	return false;
}

/* The CPU time of the target is no clock's any more. */
static void note_choice(struct perf_state *state)
{
	state->spent->has_chosen_threads = true;
	state->spent->has_cpu_time = false;
}

static portprof_status add_thread(struct ppi_backend_session *bs,
                                  uint64_t tid, struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	portprof_status status = check_thread(bs, tid, why);

	if (status || is_measured(state, tid))
		return status;
	status = ppi_perf_attach_thread(bs, (int64_t)tid, why);
	if (status == PORTPROF_OK)
		note_choice(state);
	return status;
}

/* One that has ended was there until its ring was empty. */
static portprof_status remove_thread(struct ppi_backend_session *bs,
                                     uint64_t tid, struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);

	if (bs->plan->target.kind != PPI_TARGET_TID)
		return check_thread(bs, tid, why);
	if (!is_measured(state, tid))
		return ppi_fail(why, PORTPROF_E_NOTFOUND, 0, "steer", "thread %"
		                PRIu64 " is not measured: it was not added, or "
		                "has ended", tid);
	ppi_perf_end_thread(bs, (int64_t)tid);
	note_choice(state);
	return PORTPROF_OK;
}

static portprof_status steer(struct ppi_backend_session *bs, size_t event,
                             enum ppi_steer what, uint64_t number,
                             struct ppi_diag *why)
{
	portprof_status status;

	if (what == PPI_STEER_ADD_THREAD)
		return add_thread(bs, number, why);
	if (what == PPI_STEER_REMOVE_THREAD)
		return remove_thread(bs, number, why);
	status = check_sampled(bs, event, why);
	if (status)
		return status;
	switch (what) {
	case PPI_STEER_PERIOD:
		return set_period(bs, event, number, why);
	case PPI_STEER_RATE:
		return set_rate(bs, event, number, why);
	case PPI_STEER_ENABLED:
		return set_enabled(bs, event, number != 0, why);
	default:
		return set_samples_left(bs, event, number, why);
	}
}

const struct ppi_steering ppi_perf_steering = {
	.steer = steer,
};
