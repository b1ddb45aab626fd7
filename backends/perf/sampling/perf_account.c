/* SPDX-License-Identifier: MIT */
/* What was counted and lost, and the target's own clock beside it. */
#include "backends/perf/sampling/perf_account.h"

#include "backends/perf/kernel/perf_proc.h"
#include "backends/perf/sampling/perf_family.h"
#include "backends/perf/sampling/perf_rings.h"
#include "backends/perf/sampling/perf_samples.h"
#include "backends/perf/sampling/perf_sides.h"
#include "backends/perf/sampling/perf_tails.h"
#include "backends/perf/session/perf_cpus.h"
#include "backends/perf/session/perf_target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SIDE_NOTE                                                           \
	"%llu records of mappings and names were lost: those of processes " \
	"that have ended may be missing; the others were read from /proc"
#define SHARED_NOTE                                                         \
	"%llu records were lost, samples or those of mappings and names, "   \
	"which one event reports here: code of processes that have ended "  \
	"may be missing; that of the others was read from /proc"

/* A program may have closed it, with all that it did not open itself, and have a
 * file of its own there, which is none of ours to read. */
static bool is_there(struct ppi_backend_session *bs,
                     const struct perf_source *source)
{
	if (ppi_perf_ask_ours(bs, source) != -EBADF)
		return true;
	ppi_note(bs, "the program closed descriptors of this session, and its "
	         "time since then is in no sample: use the timer backend, "
	         "which has none, or sample from outside (portprof record)");
	return false;
}

/* What the kernel could not write of what this source had to tell. */
static bool read_lost(struct ppi_backend_session *bs,
                      const struct perf_source *source, uint64_t *lost)
{
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	uint64_t format = perf_state_of(bs)->kind.shape.read_format;
	uint64_t words[PERF_READ_ROOM] = { 0 };
	ssize_t got;

	if (!(format & PERF_READ_LOST) || !is_there(bs, source))
		return false;
	got = kernel->read_event(kernel->self, source->fd, words,
	                         sizeof(words));
	/* the last word of those that an event alone gives */
	if (got < 8)
		return false;
	*lost = words[got / 8 - 1];
	return true;
}

/* Of mappings and names, or of these and samples together. */
static uint64_t lost_beside(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_rings *rings = state->rings;
	uint64_t all = state->sides->lost, lost;
	struct perf_tally shared = state->tallies[0];

	for (size_t i = 0; i < state->source_count; i++) {
		const struct perf_source *source = &state->sources[i];

		if (source->is_leave)
			continue;
		if (source->event == PERF_CARRIER) {
			if (read_lost(bs, source, &lost))
				all += lost;
		} else if (source->event == 0 && !state->sides->has_carriers) {
			ppi_perf_tally_source(bs, source, &shared);
		}
	}
	if (!state->sides->has_carriers)
		all += state->kind.features & PERF_HAS_LOST
			? shared.lost : shared.lost_records;
	for (size_t i = 0; i < rings->count; i++)
		if (rings->all[i].fd >= 0 && rings->all[i].is_side)
			all += rings->all[i].buffer.damaged;
	return all;
}

void ppi_perf_say_side_losses(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	const char *format = state->sides->has_carriers ? SIDE_NOTE
	                                                : SHARED_NOTE;
	uint64_t all = lost_beside(bs);

	if (all == state->sides->said)
		return;
	state->sides->said = all;
	state->sides->is_behind = true;
	ppi_note_again(bs, &state->sides->note, format, (unsigned long long)all);
}

/* Whether a reading has all of its group: a member's that samples does. */
static bool reads_group(const struct ppi_backend_session *bs,
                        const struct perf_source *source)
{
	return !source->is_member ||
	       perf_is_sampled(&bs->plan->events[source->event]);
}

/* Where its value is among those of its group, which begin at `first`. */
static size_t place_in_group(uint64_t format, const uint64_t *words,
                             size_t first, uint64_t id)
{
	size_t step = 2 + ((format & PERF_READ_LOST) != 0), at = first;

	if (!(format & PERF_FORMAT_ID))
		return first;
	for (uint64_t i = 0; i < words[0]; i++, at += step)
		if (at + 1 < PERF_READ_ROOM && words[at + 1] == id)
			return at;
	return first;
}

/* The words in the order of enum perf_event_read_format. */
void ppi_perf_tally_source(struct ppi_backend_session *bs,
                           const struct perf_source *source,
                           struct perf_tally *tally)
{
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	uint64_t format = perf_state_of(bs)->kind.shape.read_format;
	bool is_group = format & PERF_FORMAT_GROUP && reads_group(bs, source);
	uint64_t words[PERF_READ_ROOM] = { 0 }, value = 0, enabled, running;
	size_t at = 0;

	if (!is_there(bs, source) ||
	    kernel->read_event(kernel->self, source->fd, words,
	                       sizeof(words)) <= 0) {
		tally->is_short = true;
		return;
	}
	/* of a group their number comes first, and the values behind the times */
	if (is_group)
		at++;
	else
		value = words[at++];
	enabled = format & PERF_FORMAT_TOTAL_TIME_ENABLED ? words[at++] : 0;
	running = enabled;
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		running = words[at++];
	if (is_group) {
		at = place_in_group(format, words, at, source->id);
		value = words[at++];
	}
	if (running && running < enabled &&
	    !perf_is_split(bs, source->event) &&
	    !bs->plan->events[source->event].is_cpu_time)
		value = (uint64_t)((long double)value * enabled / running);
	/* a CPU's clock counts what runs there */
	if (!source->is_tail)
		tally->total += value;
	if (format & PERF_FORMAT_ID)
		at++;
	if (format & PERF_READ_LOST)
		tally->lost += words[at];
}

struct perf_tally ppi_perf_tally_now(struct ppi_backend_session *bs, size_t event)
{
	const struct perf_state *state = perf_state_of(bs);
	struct perf_tally tally = state->tallies[event];

	for (size_t i = 0; i < state->source_count; i++)
		if (state->sources[i].event == event)
			ppi_perf_tally_source(bs, &state->sources[i], &tally);
	return tally;
}

void ppi_perf_tally_closing(struct ppi_backend_session *bs,
                            const struct perf_source *source)
{
	struct perf_state *state = perf_state_of(bs);

	uint64_t lost;

	if (source->event != PERF_CARRIER)
		ppi_perf_tally_source(bs, source,
		                      &state->tallies[source->event]);
	else if (!source->is_leave && read_lost(bs, source, &lost))
		state->sides->lost += lost;
}

static bool read_clock(const struct ppi_backend_session *bs, int32_t clock,
                       uint64_t *ns)
{
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);

	return kernel->get_clock(kernel->self, clock, ns) == 0;
}

/* The sum of all that were named. */
static bool others_time(const struct ppi_backend_session *bs, uint64_t *ns)
{
	uint64_t sum = 0, one = 0;
	bool is_whole = true;
	int64_t *pids;
	size_t count;

	if (ppi_perf_target_processes(bs, &pids, &count) < 0)
		return false;
	for (size_t i = 0; i < count && is_whole; i++, sum += one)
		is_whole = read_clock(bs, perf_clock_of_process(pids[i]), &one);
	free(pids);
	if (is_whole)
		*ns = sum;
	return is_whole;
}

static bool process_time(const struct ppi_backend_session *bs, uint64_t *ns)
{
	const struct ppi_target *target = &bs->plan->target;
	uint64_t own = 0;

	/* The clock of a process knows nothing of its children: those that have
	 * ended are in none. */
	if (bs->plan->follow_children && !perf_state_of(bs)->is_by_cpu)
		return false;
	if (!target->is_self)
		return others_time(bs, ns);
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

	/* no clock is theirs alone */
	if (perf_state_of(bs)->spent->has_chosen_threads)
		return false;
	if (target->cgroup)
		return perf_state_of(bs)->is_by_cpu &&
		       ppi_perf_cgroup_time(bs, ns);
	switch (target->kind) {
	case PPI_TARGET_PROCESS:
	case PPI_TARGET_PID:
		return process_time(bs, ns);
	case PPI_TARGET_TID:
		/* The clock of another process's thread cannot be read. */
		return target->is_self
			? read_clock(bs, perf_clock_of_thread(target->tid), ns)
			: ppi_perf_proc_thread_time(perf_kernel_of(bs->kernel),
			                            target->pid, target->tid,
			                            ns);
	case PPI_TARGET_COMMAND:
	default:
		return false; /* known when it has ended, by wait4 */
	}
}

void ppi_perf_clock_start(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);

	if (target_time(bs, &state->spent->started_at_ns))
		state->spent->has_cpu_time = true;
}

void ppi_perf_clock_stop(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	uint64_t now;

	if (!state->spent->has_cpu_time)
		return;
	if (target_time(bs, &now) && now >= state->spent->started_at_ns)
		state->spent->cpu_time_ns += now - state->spent->started_at_ns;
	else
		state->spent->has_cpu_time = false;
}

static uint64_t cpu_time_so_far(const struct ppi_backend_session *bs)
{
	const struct perf_state *state = perf_state_of(bs);
	uint64_t now;

	if (!state->spent->has_cpu_time || state->family->has_ended)
		return 0;
	if (!state->is_running)
		return state->spent->cpu_time_ns;
	if (!target_time(bs, &now) || now < state->spent->started_at_ns)
		return 0;
	return state->spent->cpu_time_ns + now - state->spent->started_at_ns;
}

/* Times that what lay in a ring of samples could not be read. */
static uint64_t damage_of(const struct perf_rings *rings)
{
	uint64_t times = rings->damaged;

	for (size_t i = 0; i < rings->count; i++)
		if (rings->all[i].fd >= 0 && !rings->all[i].is_side)
			times += rings->all[i].buffer.damaged;
	return times;
}

/* The kernel counts every record of an event that found no room (kernel/
 * events/ring_buffer.c, __perf_output_begin): samples alone where it has only
 * samples to write. */
static bool is_loss_exact(const struct perf_state *state,
                          const struct perf_tally *tally, size_t event)
{
	bool tells_more = (event == 0 && !state->sides->has_carriers) ||
	                  tally->throttled > 0;

	return damage_of(state->rings) == 0 && tally->unclear == 0 &&
	       !state->weighing->is_id_doubtful &&
	       !(tally->lost > 0 && tells_more);
}

static void fill_loss(const struct perf_state *state,
                      const struct perf_tally *tally, size_t event,
                      struct ppi_account *out)
{
	bool has_lost = state->kind.features & PERF_HAS_LOST;
	/* what else it reports may be all that it lost: a note has the number */
	bool tells_more = event == 0 && !state->sides->has_carriers;

	out->throttled = tally->throttled;
	out->lost_samples = tally->unclear;
	if (has_lost && !tells_more)
		out->lost_samples += tally->lost;
	/* Damage and LOST records do not say of which event, and the latter
	 * come only when a later record finds room. */
	if (event == 0)
		out->lost_samples += damage_of(state->rings);
	if (event == 0 && !has_lost && !tells_more)
		out->lost_samples += tally->lost_records;
	out->lost_certainty = has_lost && is_loss_exact(state, tally, event)
		? PORTPROF_EXACT : PORTPROF_UNKNOWN;
}

/*
 * Of a system what was charged; its samples are estimates of that. Where nobody
 * tells idle time, what samples of the idle task do not stand for is in it.
 */
static void fill_charged(const struct ppi_backend_session *bs,
                         const struct perf_tally *tally,
                         struct ppi_account *out)
{
	struct perf_idle_times idle;
	uint64_t not_charged = tally->helper;

	if (ppi_perf_idle_so_far(bs, -1, &idle)) {
		out->idle_ns = idle.idle_ns;
		not_charged += idle.idle_ns + idle.stolen_ns;
	} else {
		not_charged = tally->left_out;
		out->total_certainty = PORTPROF_UNKNOWN;
	}
	out->total_weight = tally->total > not_charged
		? tally->total - not_charged : 0;
	out->is_estimate = true;
}

/* What the processes' clocks tell, if none of them has ended, with what only it
 * knew; else what was sampled. */
static void fill_family(const struct ppi_backend_session *bs,
                        const struct perf_tally *tally,
                        struct ppi_account *out)
{
	uint64_t charged = cpu_time_so_far(bs);

	out->total_weight = charged ? charged : tally->emitted;
	out->total_certainty = charged ? PORTPROF_EXACT : PORTPROF_UNKNOWN;
	out->is_estimate = true;
}

void ppi_perf_account(struct ppi_backend_session *bs, size_t event,
                      struct ppi_account *out)
{
	struct perf_state *state = perf_state_of(bs);
	const struct ppi_event *what = &bs->plan->events[event];
	struct perf_tally tally = ppi_perf_tally_now(bs, event);

	*out = (struct ppi_account){ 0 };
	out->total_weight = tally.total - tally.left_out;
	out->total_certainty = tally.is_short ? PORTPROF_UNKNOWN
	                                      : PORTPROF_EXACT;
	out->is_estimate = state->tails->is_on;
	out->variance = tally.variance;
	if (state->is_by_cpu)
		fill_family(bs, &tally, out);
	else if (ppi_perf_has_idle(bs, event))
		fill_charged(bs, &tally, out);
	if (perf_is_period_weighted(what)) {
		out->total_weight = tally.emitted;
		out->total_certainty = PORTPROF_UNKNOWN;
	}
	out->cpu_time_ns = cpu_time_so_far(bs);
	if (state->layout == PERF_SYSTEM_RINGS && what->is_cpu_time)
		out->cpu_time_ns = out->total_weight;
	out->is_partial = tally.was_off;
	if (what->is_cpu_time && out->cpu_time_ns > out->total_weight &&
	    !out->is_partial)
		out->not_attached = out->cpu_time_ns - out->total_weight;
	fill_loss(state, &tally, event, out);
	if (tally.rate_hz) {
		out->granted_hz = (double)tally.rate_hz;
	} else {
		out->granted_period = tally.period;
		if (what->unit == PORTPROF_UNIT_NANOSECONDS && tally.period)
			out->granted_hz = 1e9 / (double)tally.period;
	}
}

