/* SPDX-License-Identifier: MIT */
/*
 * Counters that programs read themselves: the page of each mapped hardware
 * event, as the kernel leaves it whenever it looks at the event
 * ([v6.18 core.c perf_event_update_userpage]).
 */
#include "tests/sim/perf_sim_state.h"

#include <string.h>

enum {
	CAPS = 1u << 2 | 1u << 3, /* user_rdpmc, user_time */
	TIME_SHIFT = 10,
	FIRST_COUNTER = 3         /* the lower ones are somebody's */
};

/* The kernel starts a counter below zero, so that it overflows in time; here
 * so little that tests see it on both sides of zero. */
static uint64_t register_of(const struct sim_event *event)
{
	unsigned unused = (64 - perf_sim_machine.user_width) & 63;

	return (event->count - 5000000) << unused >> unused;
}

static uint64_t extend(uint64_t value)
{
	unsigned unused = (64 - perf_sim_machine.user_width) & 63;

	return (uint64_t)((int64_t)(value << unused) >> unused);
}

static void update_page(const struct sim_event *event, uint32_t counter)
{
	struct perf_event_mmap_page *page =
		(struct perf_event_mmap_page *)(void *)event->ring->memory;
	bool is_here = event->is_on_pmu && event->is_on &&
	               event->leader->is_on && !event->has_error;

	page->lock++;
	page->index = is_here ? counter + 1 : 0;
	page->offset = (int64_t)event->count;
	if (is_here)
		page->offset -= (int64_t)extend(register_of(event));
	page->time_enabled = event->enabled_ns;
	page->time_running = event->running_ns;
	page->pmc_width = (uint16_t)perf_sim_machine.user_width;
	page->capabilities = perf_sim_machine.user_width ? CAPS : 0;
	page->time_shift = TIME_SHIFT;
	page->time_mult = 1u << TIME_SHIFT;
	page->time_offset = 0 - sim.now_ns;
	page->lock++;
}

static bool has_page(const struct sim_event *event)
{
	return event && event->has_own_ring && event->ring &&
	       event->ring->data_bytes == 0 && event->ring->is_mapped &&
	       sim_is_hardware(&event->attr);
}

void sim_update_pages(void)
{
	for (uint32_t fd = 0; fd < SIM_FDS; fd++)
		if (has_page(sim.fds[fd]))
			update_page(sim.fds[fd], FIRST_COUNTER + fd);
}

uint64_t perf_sim_pmc(uint32_t counter)
{
	const struct sim_event *event =
		counter - FIRST_COUNTER < SIM_FDS
			? sim.fds[counter - FIRST_COUNTER] : NULL;

	/* Any other register counts for somebody else. */
	if (!has_page(event) || !event->is_on_pmu)
		return UINT64_C(0x123456789);
	return register_of(event) + perf_sim_machine.user_lies;
}
