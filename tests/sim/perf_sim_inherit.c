/* SPDX-License-Identifier: MIT */
/* Copies of events in new tasks, and what they leave when tasks end. */
#include "tests/sim/perf_sim_state.h"

#include <stdlib.h>
#include <sys/mman.h>

/* Of each side of a ring, where every access is a crash; pages of any size fit in. */
enum { FENCE = 1 << 16 };

/* The system clears what is used of it, which is little. */
unsigned char *sim_new_memory(size_t bytes)
{
	unsigned char *memory = mmap(NULL, bytes + 2 * (size_t)FENCE, PROT_NONE,
	                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	if (mprotect(memory + FENCE, bytes, PROT_READ | PROT_WRITE) == 0)
		return memory + FENCE;
	munmap(memory, bytes + 2 * (size_t)FENCE);
	return NULL;
}

void sim_free_ring(struct sim_ring *ring)
{
	munmap(ring->memory - FENCE, ring->bytes + 2 * (size_t)FENCE);
	free(ring);
}

void sim_release_ring(struct sim_ring *ring)
{
	struct sim_ring **at = &sim.rings;

	if (!ring || --ring->users > 0 || ring->is_mapped)
		return;
	while (*at != ring)
		at = &(*at)->next;
	*at = ring->next;
	sim_free_ring(ring);
}

static void unlink_event(struct sim_event *event)
{
	struct sim_event **at;

	if (!event->task)
		return;
	at = &event->task->events;
	while (*at != event)
		at = &(*at)->next;
	*at = event->next;
	event->task = NULL;
}

void sim_free_event(struct sim_event *event)
{
	unlink_event(event);
	sim_release_ring(event->ring);
	free(event);
}

/* [v6.18 core.c inherit_event]: all copies descend from the event that was
 * opened, have its id and ring, and begin at zero. */
static struct sim_event *copy_event(struct sim_event *event,
                                    struct sim_task *to)
{
	struct sim_event *copy = calloc(1, sizeof(*copy));

	copy->attr = event->attr;
	copy->parent = event->parent ? event->parent : event;
	copy->id = event->id;
	copy->cpu = event->cpu;
	copy->is_on = event->is_on;
	copy->left = event->attr.freq ? 1000000000u / event->attr.sample_freq
	                              : event->attr.sample_period;
	copy->task = to;
	copy->leader = copy;
	copy->next = to->events;
	to->events = copy;
	return copy;
}

static struct sim_event *copy_of(struct sim_task *task,
                                 const struct sim_event *event)
{
	const struct sim_event *top = event->parent ? event->parent : event;
	struct sim_event *at = task->events;

	while (at && at->parent != top)
		at = at->next;
	return at;
}

void sim_inherit(struct sim_task *from, struct sim_task *to)
{
	bool is_thread = from->pid == to->pid;

	for (struct sim_event *at = from->events; at; at = at->next)
		if (at->attr.inherit &&
		    (is_thread ||
		     !sim_attr_flag(&at->attr, PERF_FLAG_INHERIT_THREAD)))
			copy_event(at, to);
	for (struct sim_event *at = from->events; at; at = at->next) {
		struct sim_event *copy = copy_of(to, at);
		struct sim_event *leader = copy_of(to, at->leader);

		if (copy && leader)
			copy->leader = leader;
	}
}

/*
 * [v6.18 core.c perf_event_exit_event, sync_child_event]: a copy's count and
 * times are added to its origin and the copy is freed; an event that was
 * opened stays, without a task, for the holder of its descriptor.
 */
void sim_end_events(struct sim_task *task)
{
	while (task->events) {
		struct sim_event *event = task->events;
		struct sim_event *parent = event->parent;

		if (!parent) {
			unlink_event(event);
			continue;
		}
		parent->child_count += event->count;
		parent->child_enabled_ns += event->enabled_ns;
		parent->child_running_ns += event->running_ns;
		sim_free_event(event);
	}
}
