/* SPDX-License-Identifier: MIT */
/* What was counted and lost, and the target's own clock beside it. */
#include "backends/perf/perf_state.h"

#include "backends/perf/perf_proc.h"

#include <time.h>

/* The words in the order of enum perf_event_read_format. */
void perf_tally_source(struct ppi_backend_session *bs,
                       const struct perf_source *source,
                       struct perf_tally *tally)
{
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	uint64_t format = perf_state_of(bs)->kind.shape.read_format;
	bool is_group = format & PERF_FORMAT_GROUP && !source->is_member;
	uint64_t words[PERF_READ_ROOM] = { 0 }, value = 0, enabled, running;
	size_t at = 0;

	if (kernel->read_event(kernel->self, source->fd, words,
	                       sizeof(words)) <= 0) {
		tally->is_short = true;
		return;
	}
	/* of a group their number comes first, and the leader's is the first
	 * behind the times */
	if (is_group)
		at++;
	else
		value = words[at++];
	enabled = format & PERF_FORMAT_TOTAL_TIME_ENABLED ? words[at++] : 0;
	running = enabled;
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		running = words[at++];
	if (is_group)
		value = words[at++];
	if (running && running < enabled &&
	    !perf_is_split(bs, source->event) &&
	    !bs->plan->events[source->event].is_cpu_time)
		value = (uint64_t)((long double)value * enabled / running);
	tally->total += value;
	if (format & PERF_READ_LOST)
		tally->lost += words[at];
}

void perf_tally_closing(struct ppi_backend_session *bs,
                        const struct perf_source *source)
{
	struct perf_state *state = perf_state_of(bs);

	if (source->event != PERF_CARRIER)
		perf_tally_source(bs, source, &state->tallies[source->event]);
}

static bool read_clock(const struct ppi_backend_session *bs, int32_t clock,
                       uint64_t *ns)
{
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);

	return kernel->get_clock(kernel->self, clock, ns) == 0;
}

static bool process_time(const struct ppi_backend_session *bs, uint64_t *ns)
{
	const struct ppi_target *target = &bs->plan->target;
	uint64_t own = 0;

	/* The clock of a process knows nothing of its children. */
	if (bs->plan->follow_children)
		return false;
	if (!target->is_self)
		return read_clock(bs, perf_clock_of_process(target->pid), ns);
	if (bs->helper_tid > 0 &&
	    !read_clock(bs, perf_clock_of_thread(bs->helper_tid), &own))
		return false;
	if (!read_clock(bs, CLOCK_PROCESS_CPUTIME_ID, ns))
		return false;
	*ns -= own;
	return true;
}

static bool target_time(const struct ppi_backend_session *bs, uint64_t *ns)
{
	const struct ppi_target *target = &bs->plan->target;

	switch (target->kind) {
	case PPI_TARGET_PROCESS:
	case PPI_TARGET_PID:
		return process_time(bs, ns);
	case PPI_TARGET_TID:
		/* The clock of another process's thread cannot be read. */
		return target->is_self
			? read_clock(bs, perf_clock_of_thread(target->tid), ns)
			: perf_proc_thread_time(perf_kernel_of(bs->kernel),
			                        target->pid, target->tid, ns);
	case PPI_TARGET_COMMAND:
	default:
		return false; /* known when it has ended, by wait4 */
	}
}

void perf_clock_start(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);

	if (target_time(bs, &state->started_at_ns))
		state->has_cpu_time = true;
}

void perf_clock_stop(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	uint64_t now;

	if (!state->has_cpu_time)
		return;
	if (target_time(bs, &now) && now >= state->started_at_ns)
		state->cpu_time_ns += now - state->started_at_ns;
	else
		state->has_cpu_time = false;
}

static uint64_t cpu_time_so_far(const struct ppi_backend_session *bs)
{
	const struct perf_state *state = perf_state_of(bs);
	uint64_t now;

	if (!state->has_cpu_time)
		return 0;
	if (!state->is_running)
		return state->cpu_time_ns;
	if (!target_time(bs, &now) || now < state->started_at_ns)
		return 0;
	return state->cpu_time_ns + now - state->started_at_ns;
}

static bool has_damage(const struct perf_state *state)
{
	for (size_t i = 0; i < state->port_count; i++)
		if (state->ports[i].fd >= 0 && state->ports[i].ring.damaged)
			return true;
	return false;
}

static void fill_loss(const struct perf_state *state,
                      const struct perf_tally *tally, size_t event,
                      struct ppi_account *out)
{
	out->throttled = tally->throttled;
	if (state->kind.features & PERF_HAS_LOST) {
		out->lost_samples = tally->lost;
		out->lost_certainty = has_damage(state) ? PORTPROF_UNKNOWN
		                                        : PORTPROF_EXACT;
		return;
	}
	/* LOST records do not say of which event, and come only when a later
	 * record finds room. */
	out->lost_samples = event == 0 ? tally->lost_records : 0;
	out->lost_certainty = PORTPROF_UNKNOWN;
}

void perf_account(struct ppi_backend_session *bs, size_t event,
                  struct ppi_account *out)
{
	struct perf_state *state = perf_state_of(bs);
	const struct ppi_event *what = &bs->plan->events[event];
	struct perf_tally tally = state->tallies[event];

	for (size_t i = 0; i < state->source_count; i++)
		if (state->sources[i].event == event)
			perf_tally_source(bs, &state->sources[i], &tally);
	*out = (struct ppi_account){ 0 };
	out->total_weight = tally.total - tally.left_out;
	out->total_certainty = tally.is_short ? PORTPROF_UNKNOWN
	                                      : PORTPROF_EXACT;
	if (perf_is_period_weighted(what)) {
		out->total_weight = tally.emitted;
		out->total_certainty = PORTPROF_UNKNOWN;
	}
	out->cpu_time_ns = cpu_time_so_far(bs);
	/* what the CPUs' clocks tell, but for idle time */
	if (state->layout == PERF_SYSTEM_RINGS && what->is_cpu_time)
		out->cpu_time_ns = out->total_weight;
	if (what->is_cpu_time && out->cpu_time_ns > out->total_weight)
		out->not_attached = out->cpu_time_ns - out->total_weight;
	fill_loss(state, &tally, event, out);
	if (what->rate_hz) {
		out->granted_hz = (double)what->rate_hz;
	} else {
		out->granted_period = what->period;
		if (what->unit == PORTPROF_UNIT_NANOSECONDS && what->period)
			out->granted_hz = 1e9 / (double)what->period;
	}
}
