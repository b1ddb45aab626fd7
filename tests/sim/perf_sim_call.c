/* SPDX-License-Identifier: MIT */
/* ioctl, read, close, mmap and munmap of simulated events. */
#include "tests/sim/perf_sim_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_forked(void)
{
	return getpid() != sim.main_tid;
}

/* An ioctl reaches the copies too: [v6.18 core.c perf_event_for_each_child]. */
static void switch_event(struct sim_event *event, bool is_on)
{
	event->is_on = is_on;
	for (struct sim_task *task = sim.tasks; task; task = task->next)
		for (struct sim_event *at = task->events; at; at = at->next)
			if (at->parent == event)
				at->is_on = is_on;
}

/* Which rings an event may be led to, each [run]. */
static int set_output(struct sim_event *event, int to_fd)
{
	struct sim_event *to = sim_of_fd(to_fd);

	if (!to)
		return -EBADF;
	if (!to->ring || !to->ring->is_mapped || event->has_own_ring ||
	    to->cpu != event->cpu ||
	    (event->cpu == -1 && to->task != event->task) ||
	    to->attr.use_clockid != event->attr.use_clockid ||
	    to->attr.clockid != event->attr.clockid)
		return -EINVAL;
	to->ring->users++;
	sim_release_ring(event->ring);
	event->ring = to->ring;
	return 0;
}

/* [v6.18 core.c perf_event_set_filter, trace_events_filter.c] */
static int set_filter(const struct sim_event *event, const char *filter)
{
	if (event->attr.type != PERF_TYPE_TRACEPOINT ||
	    strncmp(filter, "prev_", 5) != 0)
		return -EINVAL;
	sim.filters++;
	snprintf(sim.last_filter, sizeof(sim.last_filter), "%s", filter);
	return 0;
}

unsigned perf_sim_filters(void)
{
	return sim.filters;
}

const char *perf_sim_last_filter(void)
{
	return sim.last_filter;
}

int sim_control(void *self, int fd, unsigned long request, void *arg)
{
	struct sim_event *event = sim_of_fd(fd);
	int error = sim_fault(SIM_CONTROL);

	(void)self;
	if (!event)
		return -EBADF;
	/* A forked child shares the events: switching them disturbs the
	 * parent [run]. */
	if (is_forked())
		sim.abuses++;
	if (error)
		return error;
	switch (request) {
	case PERF_EVENT_IOC_ENABLE:
	case PERF_EVENT_IOC_DISABLE:
		switch_event(event, request == PERF_EVENT_IOC_ENABLE);
		sim_update_pages();
		return 0;
	case PERF_EVENT_IOC_PERIOD:
		/* [v6.18 core.c _perf_event_period]: the copies that there
		 * are keep theirs. */
		memcpy(&event->attr.sample_period, arg,
		       sizeof(event->attr.sample_period));
		event->left = event->attr.sample_period;
		return 0;
	case PERF_EVENT_IOC_REFRESH:
		/* [v6.18 core.c perf_event_refresh] */
		if (event->attr.inherit || !event->attr.sample_period)
			return -EINVAL;
		event->samples_left += (unsigned)(intptr_t)arg;
		switch_event(event, true);
		return 0;
	case PERF_EVENT_IOC_SET_OUTPUT:
		return set_output(event, (int)(intptr_t)arg);
	case PERF_EVENT_IOC_SET_FILTER:
		return set_filter(event, arg);
	case PERF_EVENT_IOC_ID:
		memcpy(arg, &event->id, sizeof(event->id));
		return 0;
	default:
		return -ENOTTY;
	}
}

/* ---- read ---- */

struct total {
	uint64_t count, enabled, running;
};

/* Its own, its living copies', and what ended copies left. */
static struct total total_of(const struct sim_event *event)
{
	struct total total = {
		event->count + event->child_count,
		event->enabled_ns + event->child_enabled_ns,
		event->running_ns + event->child_running_ns,
	};

	for (struct sim_task *task = sim.tasks; task; task = task->next)
		for (struct sim_event *at = task->events; at; at = at->next)
			if (at->parent == event) {
				total.count += at->count;
				total.enabled += at->enabled_ns;
				total.running += at->running_ns;
			}
	return total;
}

static size_t put_one(const struct sim_event *event, uint64_t *out)
{
	uint64_t format = event->attr.read_format;
	struct total total = total_of(event);
	size_t n = 0;

	out[n++] = total.count;
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		out[n++] = total.enabled;
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		out[n++] = total.running;
	if (format & PERF_FORMAT_ID)
		out[n++] = event->id;
	if (format & PERF_READ_LOST)
		out[n++] = event->lost;
	return n;
}

static size_t put_member(const struct sim_event *event, uint64_t format,
                         uint64_t *out)
{
	size_t n = 0;

	out[n++] = total_of(event).count;
	if (format & PERF_FORMAT_ID)
		out[n++] = event->id;
	if (format & PERF_READ_LOST)
		out[n++] = event->lost;
	return n;
}

/* Leader first, then members as they were opened: ids ascend. Whichever of them is
 * read [v6.18 core.c perf_read_group]. */
static size_t put_group(const struct sim_event *event, uint64_t *out,
                        size_t room)
{
	const struct sim_event *leader = event->leader;
	uint64_t format = event->attr.read_format, last = leader->id;
	struct total total = total_of(leader);
	size_t n = 1, members = 1;

	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		out[n++] = total.enabled;
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		out[n++] = total.running;
	n += put_member(leader, format, out + n);
	for (;;) {
		const struct sim_event *next = NULL;

		for (int fd = 0; fd < SIM_FDS; fd++) {
			const struct sim_event *at = sim.fds[fd];

			if (at && at->leader == leader && at->id > last &&
			    (!next || at->id < next->id))
				next = at;
		}
		if (!next || n + 3 > room)
			break;
		last = next->id;
		n += put_member(next, format, out + n);
		members++;
	}
	out[0] = members;
	return n;
}

ssize_t sim_read_event(void *self, int fd, void *buffer, size_t bytes)
{
	struct sim_event *event = sim_of_fd(fd);
	uint64_t words[256];
	int error = sim_fault(SIM_READ);
	size_t count;

	(void)self;
	if (!event)
		return -EBADF;
	if (error)
		return error;
	if (event->has_error)
		return 0; /* a pinned event that lost its place [man] */
	count = event->attr.read_format & PERF_FORMAT_GROUP
		? put_group(event, words, 256) : put_one(event, words);
	if (bytes < count * 8)
		return -ENOSPC; /* [run] */
	memcpy(buffer, words, count * 8);
	return (ssize_t)(count * 8);
}

/* ---- close and mappings ---- */

/* A closed event takes its copies with it: [v6.18 core.c
 * perf_event_release_kernel]. */
static void free_copies(const struct sim_event *event)
{
	for (struct sim_task *task = sim.tasks; task; task = task->next) {
		struct sim_event *next;

		for (struct sim_event *at = task->events; at; at = next) {
			next = at->next;
			if (at->parent == event)
				sim_free_event(at);
		}
	}
}

int sim_close_event(void *self, int fd, uint64_t id)
{
	struct sim_event *event = sim_of_fd(fd);

	(void)self;
	if (!event || (id && id != PERF_FRESH && id != event->id))
		return -EBADF;
	sim.fds[fd - SIM_FIRST_FD] = NULL;
	sim.open_fds--;
	free_copies(event);
	for (int at = 0; at < SIM_FDS; at++)
		if (sim.fds[at] && sim.fds[at]->leader == event)
			sim.fds[at]->leader = sim.fds[at];
	sim_free_event(event);
	return 0;
}

int sim_map(void *self, int fd, size_t bytes, void **address)
{
	struct sim_event *event = sim_of_fd(fd);
	size_t pages = bytes / SIM_PAGE - 1;
	struct perf_event_mmap_page *control;
	struct sim_ring *ring;
	int error = sim_fault(SIM_MAP);

	(void)self;
	if (!event)
		return -EBADF;
	if (error)
		return error;
	/* [v6.18 core.c perf_mmap]; the inherited case [run] */
	if (bytes % SIM_PAGE || (pages & (pages - 1)) || event->ring ||
	    (event->cpu == -1 && event->attr.inherit))
		return -EINVAL;
	if (!perf_sim_machine.is_privileged &&
	    sim.locked_bytes + bytes > perf_sim_machine.lockable_bytes)
		return -EPERM;
	ring = calloc(1, sizeof(*ring));
	if (ring)
		ring->memory = sim_new_memory(bytes);
	if (!ring || !ring->memory) {
		free(ring);
		return -ENOMEM;
	}
	ring->bytes = bytes;
	ring->data_bytes = pages * SIM_PAGE;
	ring->is_mapped = true;
	ring->users = 1;
	ring->next = sim.rings;
	sim.rings = ring;
	control = (struct perf_event_mmap_page *)(void *)ring->memory;
	control->data_offset = SIM_PAGE;
	control->data_size = ring->data_bytes;
	event->ring = ring;
	event->has_own_ring = true;
	sim.mapped++;
	sim.locked_bytes += bytes;
	*address = ring->memory;
	sim_update_pages();
	return 0;
}

int sim_unmap(void *self, void *address, size_t bytes)
{
	struct sim_ring *ring = sim.rings;

	(void)self;
	/* Rings are not there in a forked child [run]: whatever lies at that
	 * address now would be unmapped. */
	if (is_forked())
		sim.abuses++;
	while (ring && ring->memory != address)
		ring = ring->next;
	if (!ring || ring->bytes != bytes || !ring->is_mapped) {
		sim.abuses++;
		return -EINVAL;
	}
	ring->is_mapped = false;
	sim.mapped--;
	sim.locked_bytes -= bytes;
	ring->users++;
	sim_release_ring(ring);
	return 0;
}
