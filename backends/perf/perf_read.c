/* SPDX-License-Identifier: MIT */
/* Counting: one reading of all groups, and what each value is worth. */
#include "backends/perf/perf_state.h"

#include <string.h>

static void add_value(const struct perf_state *state, uint64_t id,
                      uint64_t value, uint64_t enabled, uint64_t running,
                      portprof_count *out, size_t count)
{
	const struct perf_source *source = perf_source_of(state, id);

	if (!source || source->event >= count)
		return;
	out[source->event].raw += value;
	out[source->event].enabled_ns += enabled;
	out[source->event].running_ns += running;
}

/* An event that was to stay on the PMU and could not reads as end of file
 * (perf_event_open(2), "pinned"). */
static void mark_error(const struct ppi_backend_session *bs,
                       const struct perf_source *leader, portprof_count *out,
                       size_t count)
{
	size_t group = bs->plan->events[leader->event].group;

	for (size_t i = 0; i < count; i++)
		if (bs->plan->events[i].group == group && !perf_is_refused(bs, i))
			out[i].status = PORTPROF_COUNT_ERROR;
}

static portprof_status read_source(struct ppi_backend_session *bs,
                                   const struct perf_source *source,
                                   portprof_count *out, size_t count)
{
	const struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	uint64_t words[PERF_READ_ROOM];
	ssize_t got = kernel->read_event(kernel->self, source->fd, words,
	                                 sizeof(words));
	size_t have = got > 0 ? (size_t)got / 8 : 0;

	if (got == 0) {
		mark_error(bs, source, out, count);
		return PORTPROF_OK;
	}
	if (have < 4)
		return PORTPROF_E_SYSTEM;
	if (!(state->kind.shape.read_format & PERF_FORMAT_GROUP)) {
		add_value(state, words[3], words[0], words[1], words[2], out,
		          count);
		return PORTPROF_OK;
	}
	/* Number, enabled, running, then value and id of each. */
	for (size_t i = 0; i < words[0] && 3 + 2 * i + 1 < have; i++)
		add_value(state, words[3 + 2 * i + 1], words[3 + 2 * i],
		          words[1], words[2], out, count);
	return PORTPROF_OK;
}

static uint64_t scale(uint64_t raw, uint64_t enabled, uint64_t running)
{
#ifdef __SIZEOF_INT128__
	unsigned __int128 product = (unsigned __int128)raw * enabled / running;

	return product > UINT64_MAX ? UINT64_MAX : (uint64_t)product;
#else
	long double scaled = (long double)raw * enabled / running;

	return scaled >= 18446744073709551615.0L ? UINT64_MAX
	                                         : (uint64_t)scaled;
#endif
}

/* An estimate may fall when the share of time that was seen grows; what was
 * told once is not taken back. */
static uint64_t never_less(_Atomic uint64_t *highest, uint64_t value)
{
	uint64_t before = atomic_load_explicit(highest, memory_order_relaxed);

	while (before < value &&
	       !atomic_compare_exchange_weak_explicit(
		       highest, &before, value, memory_order_relaxed,
		       memory_order_relaxed))
		;
	return before > value ? before : value;
}

static void judge(struct ppi_backend_session *bs, size_t event,
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
		count->scaled = never_less(&state->highest[event],
		                           scale(count->raw, count->enabled_ns,
		                                 count->running_ns));
		count->status = PORTPROF_COUNT_SCALED;
	}
}

portprof_status perf_read_counts(struct ppi_backend_session *bs,
                                 portprof_count *out, size_t count)
{
	const struct perf_state *state = perf_state_of(bs);
	bool is_group = state->kind.shape.read_format & PERF_FORMAT_GROUP;

	memset(out, 0, count * sizeof(*out));
	for (size_t i = 0; i < state->source_count; i++) {
		const struct perf_source *source = &state->sources[i];
		portprof_status status;

		if (is_group && source->leader >= 0)
			continue;
		status = read_source(bs, source, out, count);
		if (status != PORTPROF_OK)
			return status;
	}
	for (size_t i = 0; i < count; i++)
		judge(bs, i, &out[i]);
	return PORTPROF_OK;
}
