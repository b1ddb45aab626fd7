/* SPDX-License-Identifier: MIT */
/* Life of the simulated program's tasks: create, name, map, exec, end. */
#include "tests/sim/perf_sim_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct sim_task *new_task(struct sim_task *from, bool is_process)
{
	struct sim_task *task = calloc(1, sizeof(*task));

	task->tid = sim.reused_tid ? sim.reused_tid : sim.next_tid++;
	sim.reused_tid = 0;
	task->pid = is_process ? task->tid : from->pid;
	task->parent_pid = is_process ? from->pid : from->parent_pid;
	/* Spread over the CPUs, as a scheduler would. */
	task->cpu = (unsigned)(task->tid % perf_sim_machine.cpus);
	task->is_alive = true;
	task->cgroup = from->cgroup;
	memcpy(task->name, from->name, sizeof(task->name));
	task->next = sim.tasks;
	sim.tasks = task;
	/* [v6.18 kernel/fork.c copy_process, core.c perf_event_fork]: copies
	 * first, then the creator's carriers tell. */
	sim_inherit(from, task);
	sim_write_task(from, PERF_RECORD_FORK, task->pid, from->pid, task->tid,
	               from->tid);
	return task;
}

int64_t perf_sim_thread(int64_t creator)
{
	return new_task(sim_task(creator), false)->tid;
}

int64_t perf_sim_fork(int64_t creator)
{
	return new_task(sim_task(creator), true)->tid;
}

/* [v6.18 core.c perf_event_exit_task_context]: told before the counts of the
 * copies go to their origins. */
void perf_sim_exit(int64_t tid)
{
	struct sim_task *task = sim_task(tid);

	sim_write_task(task, PERF_RECORD_EXIT, task->pid, task->pid, task->tid,
	               task->tid);
	sim_end_events(task);
	task->is_alive = false;
}

void perf_sim_reuse(int64_t tid)
{
	sim.reused_tid = tid;
}

void perf_sim_rename(int64_t tid, const char *name)
{
	struct sim_task *task = sim_task(tid);

	snprintf(task->name, sizeof(task->name), "%s", name);
	sim_write_name(task, false);
}

/* [v6.18 core.c perf_event_exec]: enable_on_exec works once, remove_on_exec
 * takes the event out of the task; then the name is told. */
void perf_sim_exec(int64_t tid, const char *name)
{
	struct sim_task *task = sim_task(tid);
	struct sim_event **at = &task->events;

	while (*at) {
		struct sim_event *event = *at;

		if (event->attr.enable_on_exec) {
			event->is_on = true;
			event->attr.enable_on_exec = 0;
		}
		if (!sim_attr_flag(&event->attr, PERF_FLAG_REMOVE_ON_EXEC)) {
			at = &event->next;
		} else if (event->parent) {
			sim_free_event(event);
		} else {
			*at = event->next;
			event->task = NULL;
		}
	}
	snprintf(task->name, sizeof(task->name), "%s", name);
	sim_write_name(task, true);
}

void perf_sim_replace(const char *path)
{
	sim.replaced = path;
}

void perf_sim_map_code(int64_t tid, uint64_t address, uint64_t bytes,
                       const char *path, const unsigned char build_id[20])
{
	struct sim_task *task = sim_task(tid);
	struct sim_mapping *mapping = calloc(1, sizeof(*mapping));

	mapping->address = address;
	mapping->bytes = bytes;
	snprintf(mapping->path, sizeof(mapping->path), "%s", path);
	mapping->inode = sim_inode(path);
	if (build_id)
		memcpy(mapping->build_id, build_id, 20);
	mapping->next = task->mappings;
	task->mappings = mapping;
	sim_write_mapping(task, mapping);
}
