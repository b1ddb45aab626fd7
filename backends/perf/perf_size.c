/* SPDX-License-Identifier: MIT */
/* How large rings are, and how often they are emptied. */
#include "backends/perf/perf_state.h"

enum {
	RING_MIN = 16 << 10,
	RING_FOLLOW_MIN = 128 << 10, /* each exec of a child brings 2 KiB of
	                              * mappings, at whatever rate */
	RING_CPU_MAX = 512 << 10,
	RING_THREAD_MAX = 64 << 10,
	CHAIN_TYPICAL = 32,    /* addresses, to size rings by */
	RATE_UNKNOWN_HZ = 4000,
	NAP_MIN_MS = 2,
	NAP_NEW_THREADS_MS = 10
};

/* What a fast CPU counts in a second. */
static const uint64_t CYCLES_HZ = UINT64_C(4000000000);

/*
 * Samples per second, to size rings and naps by. How often hardware counts to
 * a period is known to nobody beforehand; at the fastest it is once a cycle.
 */
static uint64_t expected_rate(const struct ppi_plan *plan, bool at_the_fastest)
{
	uint64_t rate = 0;

	for (size_t i = 0; i < plan->event_count; i++) {
		const struct ppi_event *event = &plan->events[i];

		if (event->rate_hz)
			rate += event->rate_hz;
		else if (event->unit == PORTPROF_UNIT_NANOSECONDS &&
		         event->period)
			rate += 1000000000u / event->period + 1;
		else if (at_the_fastest && event->period &&
		         event->type != PERF_TYPE_TRACEPOINT)
			rate += CYCLES_HZ / event->period + RATE_UNKNOWN_HZ;
		else
			rate += RATE_UNKNOWN_HZ;
	}
	return rate;
}

static uint64_t expected_bytes(const struct perf_shape *shape)
{
	uint64_t words = 9;

	if (shape->sample_type & PERF_SAMPLE_CALLCHAIN)
		words += shape->chain_depth < CHAIN_TYPICAL
			? shape->chain_depth + 3 : CHAIN_TYPICAL;
	if (shape->sample_type & PERF_SAMPLE_REGS_USER)
		words += 2;
	return words * 8;
}

void perf_size_rings(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	uint64_t per_second = expected_rate(bs->plan, true) *
	                      expected_bytes(&state->kind.shape);
	uint64_t least = RING_MIN, most = RING_CPU_MAX;
	uint64_t wanted = 2 * per_second;

	if (state->layout == PERF_THREAD_RINGS) {
		if (bs->plan->target.kind != PPI_TARGET_TID)
			most = RING_THREAD_MAX; /* there may be many */
		wanted = per_second / 2;
	}
	if (state->layout == PERF_SYSTEM_RINGS)
		least = RING_CPU_MAX;
	else if (bs->plan->follow_children && bs->plan->want_modules)
		least = RING_FOLLOW_MIN;
	wanted = wanted < least ? least : wanted > most ? most : wanted;
	if (bs->plan->ring_bytes)
		wanted = bs->plan->ring_bytes;
	state->ring_bytes = state->page_bytes;
	while (state->ring_bytes < wanted && state->ring_bytes < 64u << 20)
		state->ring_bytes *= 2;
}

/* How long it takes until a ring is half full. */
static unsigned half_full_ms(const struct ppi_backend_session *bs,
                             bool at_the_fastest)
{
	const struct perf_state *state = perf_state_of(bs);
	uint64_t per_second = expected_rate(bs->plan, at_the_fastest) *
	                      expected_bytes(&state->kind.shape);
	uint64_t ms = state->ring_bytes * 500 / per_second;

	ms = ms < NAP_MIN_MS ? NAP_MIN_MS : ms;
	return ms < bs->drain_every_ms ? (unsigned)ms : bs->drain_every_ms;
}

/* Come back before a ring is more than half full. Naps get longer, up to
 * nap_ms, while rings stay empty. With thread rings a new thread is measured
 * from the drain on that finds its creator's FORK record. */
void perf_choose_nap(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	enum ppi_target_kind kind = bs->plan->target.kind;
	unsigned most = half_full_ms(bs, false);

	if (state->layout == PERF_THREAD_RINGS &&
	    (kind == PPI_TARGET_PROCESS || kind == PPI_TARGET_PID) &&
	    most > NAP_NEW_THREADS_MS)
		most = NAP_NEW_THREADS_MS;
	state->nap_ms = most;
	bs->drain_every_ms = half_full_ms(bs, true);
	if (bs->drain_every_ms > most)
		bs->drain_every_ms = most;
}
