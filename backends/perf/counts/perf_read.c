/* SPDX-License-Identifier: MIT */
/* Counting: one reading of all groups, with the status of each value. */
#include "backends/perf/counts/perf_counts.h"
#include "backends/perf/session/perf_cpus.h"
#include "base/arithmetic.h"

#include <errno.h>
#include <string.h>

/* What is asked for, and where it goes. */
struct reading {
	portprof_count *out;
	size_t first, count;
	const size_t *core; /* NULL: all types of core together */
};

static void add_value(const struct perf_source *source, uint64_t value,
                      const uint64_t times[2], const struct reading *to)
{
	portprof_count *out;

	if (source->event - to->first >= to->count)
		return;
	out = &to->out[source->event - to->first];
	out->raw += value;
	/* Each type of core is enabled for the whole time, and runs for its
	 * part of it: the sum runs for all of it. */
	if (!source->is_more || to->core)
		out->enabled_ns += times[0];
	out->running_ns += times[1];
}

/* The next source of the group that `leader` leads; NULL past the last. */
static const struct perf_source *next_member(const struct perf_state *state,
                                             const struct perf_source *leader,
                                             const struct perf_source *source)
{
	const struct perf_source *end = state->sources + state->source_count;

	while (++source < end)
		if (source->leader == leader->fd)
			return source;
	return NULL;
}

/* Number, enabled, running, then each value with its event's id, in the order of
 * opening: the kernel's list of siblings is added to at its end
 * (kernel/events/core.c, perf_group_attach). False unless they are those that we
 * opened. */
static bool add_group(const struct perf_state *state,
                      const struct perf_source *leader, const uint64_t *words,
                      size_t have, const struct reading *to)
{
	const struct perf_source *source = leader;
	uint64_t i;

	for (i = 0; i < words[0] && 4 + 2 * i < have && source &&
	            words[4 + 2 * i] == source->id; i++) {
		add_value(source, perf_plain_value(words, i), &words[1], to);
		source = next_member(state, leader, source);
	}
	return i == words[0] && !source;
}

/* An event that was to stay on the PMU and could not reads as end of file
 * (perf_event_open(2), "pinned"). */
static void mark_error(const struct ppi_backend_session *bs,
                       const struct perf_source *leader,
                       const struct reading *to)
{
	const struct ppi_event *events = bs->plan->events;

	for (size_t i = 0; i < to->count; i++)
		if (events[to->first + i].group ==
		            events[leader->event].group &&
		    !perf_is_refused(bs, to->first + i))
			to->out[i].status = PORTPROF_COUNT_ERROR;
}

static bool add_answer(const struct perf_state *state,
                       const struct perf_source *source, const uint64_t *words,
                       size_t have, const struct reading *to)
{
	if (have < 4)
		return false;
	if (state->kind.shape.read_format & PERF_FORMAT_GROUP)
		return add_group(state, source, words, have, to);
	if (words[3] != source->id)
		return false;
	add_value(source, words[0], &words[1], to);
	return true;
}

static portprof_status read_source(struct ppi_backend_session *bs,
                                   const struct perf_source *source,
                                   const struct reading *to)
{
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	uint64_t words[PERF_READ_ROOM];
	ssize_t got = kernel->read_event(kernel->self, source->fd, words,
	                                 sizeof(words));

	if (got > 0 && add_answer(perf_state_of(bs), source, words,
	                          (size_t)got / 8, to))
		return PORTPROF_OK;
	if (ppi_perf_look_closed(bs, source) || got != 0) {
		errno = atomic_load(&perf_state_of(bs)->is_closed) ? EBADF
		                                    : got < 0 ? (int)-got : EIO;
		return PORTPROF_E_SYSTEM;
	}
	mark_error(bs, source, to);
	return PORTPROF_OK;
}

void ppi_perf_judge(struct ppi_backend_session *bs, size_t event,
                    portprof_count *count)
{
	struct perf_state *state = perf_state_of(bs);

	if (perf_is_refused(bs, event)) {
		count->status = PORTPROF_COUNT_REFUSED;
		return;
	}
	if (count->status == PORTPROF_COUNT_ERROR) {
		count->raw = count->scaled = 0;
		return;
	}
	if (count->running_ns == 0 &&
	    (count->enabled_ns > 0 || state->awaits_exec)) {
		count->status = PORTPROF_COUNT_NEVER_RAN;
	} else if (count->running_ns >= count->enabled_ns) {
		count->running_ns = count->enabled_ns;
		count->scaled = count->raw;
		count->status = PORTPROF_COUNT_OK;
	} else {
		/* an estimate may fall when the share that was seen grows */
		count->scaled = ppi_never_less(&state->counting->highest[event],
		                               ppi_scale(count->raw,
		                                         count->enabled_ns,
		                                         count->running_ns));
		count->status = PORTPROF_COUNT_SCALED;
	}
}

/* Whether a source is read for the events asked for: each alone, or the
 * leader of a group that has one of them. */
static bool is_to_read(const struct ppi_backend_session *bs,
                       const struct perf_source *source,
                       const struct reading *to)
{
	const struct ppi_event *events = bs->plan->events;
	bool is_group = perf_state_of(bs)->kind.shape.read_format &
	                PERF_FORMAT_GROUP;

	if (to->core && source->core != *to->core)
		return false;
	if (source->event - to->first < to->count)
		return !is_group || source->leader < 0;
	if (!is_group || source->leader >= 0)
		return false;
	for (size_t i = 0; i < to->count; i++)
		if (events[to->first + i].group == events[source->event].group)
			return true;
	return false;
}

static portprof_status read_sources(struct ppi_backend_session *bs,
                                    const struct reading *to)
{
	const struct perf_state *state = perf_state_of(bs);

	memset(to->out, 0, to->count * sizeof(*to->out));
	if (atomic_load(&state->is_closed)) {
		errno = EBADF;
		return PORTPROF_E_SYSTEM;
	}
	for (size_t i = 0; i < state->source_count; i++) {
		portprof_status status;

		if (!is_to_read(bs, &state->sources[i], to))
			continue;
		status = read_source(bs, &state->sources[i], to);
		if (status != PORTPROF_OK)
			return status;
	}
	return PORTPROF_OK;
}

/* What was charged. Idle time is known in steps, and counts never go back. */
static portprof_status take_idle(struct ppi_backend_session *bs, size_t event,
                                 portprof_count *count)
{
	struct perf_idle_times idle;
	uint64_t not_charged;

	if (!ppi_perf_idle_so_far(bs,
	                          perf_own(&bs->plan->events[event])->asked.cpu,
	                          &idle))
		return PORTPROF_E_SYSTEM;
	not_charged = idle.idle_ns + idle.stolen_ns;
	count->raw = ppi_never_less(
		&perf_state_of(bs)->counting->highest[event],
		count->raw > not_charged ? count->raw - not_charged : 0);
	return PORTPROF_OK;
}

portprof_status ppi_perf_read_counts(struct ppi_backend_session *bs,
                                     size_t first,
                                     portprof_count *out, size_t count)
{
	const struct reading to = { out, first, count, NULL };
	portprof_status status = read_sources(bs, &to);

	for (size_t i = 0; i < count && status == PORTPROF_OK; i++) {
		if (ppi_perf_has_idle(bs, first + i))
			status = take_idle(bs, first + i, &out[i]);
		ppi_perf_judge(bs, first + i, &out[i]);
	}
	return status;
}

/* What one core type's part of an event counted; not scaled. */
static portprof_status read_core(struct ppi_backend_session *bs, size_t event,
                                 size_t core, portprof_count *out)
{
	const struct reading to = { out, event, 1, &core };
	portprof_status status = read_sources(bs, &to);

	if (status != PORTPROF_OK)
		return status;
	out->scaled = out->raw;
	if (out->status == PORTPROF_COUNT_OK && out->running_ns == 0)
		out->status = out->enabled_ns ? PORTPROF_COUNT_NEVER_RAN
		                              : PORTPROF_COUNT_REFUSED;
	return PORTPROF_OK;
}

/* How many of the events from `first` on are whole groups that fit in one
 * reading. No group has more than that. */
static size_t whole_groups(const struct ppi_plan *plan, size_t first,
                           size_t count)
{
	size_t end = first, last;

	while (end < count) {
		for (last = end + 1; last < count &&
		     plan->events[last].group == plan->events[end].group;)
			last++;
		if (last - first > PERF_EVENTS_MAX)
			break;
		end = last;
	}
	return end - first;
}

/* With what is to be told of it. What is read is given when all could be read:
 * each call keeps its part until those behind it are done. */
static portprof_status count_from(struct ppi_backend_session *bs, size_t first,
                                  portprof_count *out, size_t count)
{
	portprof_count counts[PERF_EVENTS_MAX];
	size_t part = whole_groups(bs->plan, first, count);
	portprof_status status = ppi_perf_read_counts(bs, first, counts, part);

	if (status == PORTPROF_OK && first + part < count)
		status = count_from(bs, first + part, out, count);
	if (status == PORTPROF_OK)
		memcpy(out + first, counts, part * sizeof(*out));
	return status;
}

static portprof_status count_in_full(struct ppi_backend_session *bs,
                                     portprof_count *out, size_t count)
{
	portprof_status status = count_from(bs, 0, out, count);

	return status ? ppi_perf_count_failed(bs, status) : PORTPROF_OK;
}

bool ppi_perf_read_plainly(const struct ppi_backend_session *bs,
                           uint64_t *words)
{
	const struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	size_t all = state->source_count, bytes = (3 + 2 * all) * 8;
	ssize_t got;

	if (!state->counting->is_one_group ||
	    atomic_load_explicit(&state->is_closed, memory_order_relaxed))
		return false;
	got = kernel->read_event(kernel->self, state->sources[0].fd, words,
	                         bytes);
	if (got == (ssize_t)bytes && words[0] == all &&
	    words[4] == state->sources[0].id)
		return words[1] == words[2] && words[1] > 0;
	ppi_perf_look_closed(bs, &state->sources[0]);
	return false;
}

/* Hot: next to the call itself there is little to do. */
portprof_status ppi_perf_count_all(struct ppi_backend_session *bs,
                                   portprof_count *out, size_t count)
{
	uint64_t words[PERF_READ_ROOM];

	if (!ppi_perf_read_plainly(bs, words))
		return count_in_full(bs, out, count);
	for (size_t i = 0; i < count; i++)
		out[i] = (portprof_count){ .raw = perf_plain_value(words, i),
			                   .scaled = perf_plain_value(words, i),
			                   .enabled_ns = words[1],
			                   .running_ns = words[2],
			                   .status = PORTPROF_COUNT_OK };
	return PORTPROF_OK;
}

portprof_status ppi_perf_count_part(struct ppi_backend_session *bs,
                                    size_t event, size_t part, const char **pmu,
                                    const char **cpus, portprof_count *out)
{
	const struct perf_state *state = perf_state_of(bs);
	portprof_count count;
	portprof_status status;

	if (!ppi_perf_is_by_core(bs, event) || part >= state->core_count)
		return PORTPROF_END;
	status = read_core(bs, event, part, &count);
	if (status)
		return ppi_perf_count_failed(bs, status);
	*pmu = state->cores[part].name;
	*cpus = state->cores[part].cpus;
	*out = count;
	return PORTPROF_OK;
}
