/* SPDX-License-Identifier: MIT */
/* Control groups of the simulated kernel: one hierarchy, of version 2 or 1. */
#include "tests/sim/perf_sim_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BASE "/sys/fs/cgroup"

enum { FIRST_INODE = 4000 };

static const char *mount(void)
{
	return perf_sim_machine.has_old_cgroups ? BASE "/perf_event" : BASE;
}

/* Where the path is in sim.cgroups: as tasks have it. */
static bool find_group(const char *path, uint64_t *number)
{
	*number = 0;
	if (strncmp(path, mount(), strlen(mount())) != 0)
		return false;
	path += strlen(mount());
	if (!path[0] || !strcmp(path, "/"))
		return true;
	for (uint64_t i = 0; i < SIM_CGROUPS; i++)
		if (sim.cgroups[i][0] && !strcmp(sim.cgroups[i], path)) {
			*number = i + 1;
			return true;
		}
	return false;
}

void perf_sim_move(int64_t pid, const char *group)
{
	char path[128];
	uint64_t number = 0;

	snprintf(path, sizeof(path), "%s%s", mount(), group);
	if (!find_group(path, &number)) {
		while (number < SIM_CGROUPS && sim.cgroups[number][0])
			number++;
		snprintf(sim.cgroups[number], sizeof(sim.cgroups[number]),
		         "%s", group);
		number++;
	}
	for (struct sim_task *task = sim.tasks; task; task = task->next)
		if (task->pid == pid && task->is_alive)
			task->cgroup = number;
}

uint64_t sim_cgroup_of(const struct sim_task *task)
{
	return FIRST_INODE + task->cgroup;
}

uint64_t sim_cgroup_inode(const char *path)
{
	uint64_t number;

	return find_group(path, &number) ? FIRST_INODE + number : 0;
}

int sim_open_folder(void *self, const char *path)
{
	struct sim_event *event;
	uint64_t number;
	int fd;

	(void)self;
	if (strcmp(path, BASE "/secret") == 0)
		return -EACCES;
	if (!find_group(path, &number))
		return -ENOENT;
	event = calloc(1, sizeof(*event));
	event->is_folder = true;
	event->leader = event;
	fd = sim_new_fd(event);
	if (fd < 0)
		free(event);
	return fd;
}

static bool is_inside(const struct sim_task *task, const char *group)
{
	const char *own = task->cgroup ? sim.cgroups[task->cgroup - 1] : "";
	size_t length = strlen(group);

	return strncmp(own, group, length) == 0 &&
	       (own[length] == '/' || !own[length]);
}

/* [v6.18 kernel/cgroup/rstat.c cgroup_base_stat_cputime_show] */
static void print_usage(const char *group, char *out, size_t room)
{
	uint64_t sum = 0;

	for (struct sim_task *task = sim.tasks; task; task = task->next)
		if (is_inside(task, group))
			sum += task->cpu_ns;
	snprintf(out, room, "usage_usec %llu\nuser_usec 0\n",
	         (unsigned long long)(sum / 1000));
}

bool sim_print_cgroup(const char *path, char *out, size_t room)
{
	const char *file = strrchr(path, '/');
	const struct sim_task *task;
	char folder[128];
	uint64_t number;
	long long pid;
	char what[16];

	if (sscanf(path, "/proc/%lld/%15s", &pid, what) == 2 &&
	    !strcmp(what, "cgroup")) {
		task = sim_task(pid);
		if (task)
			snprintf(out, room, "4:memory:/elsewhere\n%s:%s\n",
			         perf_sim_machine.has_old_cgroups
			         ? "0::/elsewhere\n3:perf_event" : "0:",
			         task->cgroup ? sim.cgroups[task->cgroup - 1]
			                      : "/");
		return task;
	}
	if (!file || strcmp(file, "/cpu.stat") != 0 ||
	    perf_sim_machine.has_old_cgroups)
		return false;
	snprintf(folder, sizeof(folder), "%.*s", (int)(file - path), path);
	if (!find_group(folder, &number))
		return false;
	print_usage(folder + strlen(mount()), out, room);
	return true;
}
