/* SPDX-License-Identifier: MIT */
/*
 * Copies of stacks that begin small. The kernel writes the size that was asked
 * for with each sample, whatever of it is of use, and an open event's cannot be
 * changed. So each has a twin with the size that was asked for, which is
 * inherited along and off; when chains are cut the twins take over, everywhere at
 * once. Counts of both are the event's.
 */
#include "backends/perf/perf_state.h"

#include "backends/perf/perf_proc.h"
#include "backends/perf/perf_rings.h"

#include <linux/perf_event.h>

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
	    state->has_carriers && (state->has_values || state->has_clocks) &&
	    state->kind.shape.stack_bytes > SMALL &&
	    needed * EVENTS_SHARE < available)
		state->small_stack = SMALL;
}

void ppi_perf_attr_of_size(const struct perf_state *state, bool is_large,
                           struct perf_event_attr *attr)
{
	if (!state->small_stack)
		return;
	if (is_large)
		attr->enable_on_exec = state->is_grown && attr->enable_on_exec;
	else
		attr->sample_stack_user = state->small_stack;
}

static void control(struct ppi_backend_session *bs, bool is_large,
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

	if (!state->small_stack || state->is_grown || state->awaits_exec)
		return;
	state->is_grown = true;
	if (!state->is_running)
		return;
	control(bs, false, PERF_EVENT_IOC_DISABLE);
	control(bs, true, PERF_EVENT_IOC_ENABLE);
	ppi_note(bs, "call chains were truncated: %u bytes of each stack are "
	         "copied now, %u before%s", state->kind.shape.stack_bytes,
	         state->small_stack,
	         state->kind.shape.stack_bytes < bs->plan->stack_bytes &&
	         !state->is_lock_limited
	         ? "; buffers hold no more at this rate" : "");
}
