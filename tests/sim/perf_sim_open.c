/* SPDX-License-Identifier: MIT */
/* Opening events on the simulated kernel. */
#include "tests/sim/perf_sim_state.h"

#include <errno.h>
#include <stdlib.h>

struct sim_event *sim_of_fd(int fd)
{
	int at = fd - SIM_FIRST_FD;

	return at >= 0 && at < SIM_FDS ? sim.fds[at] : NULL;
}

int sim_new_fd(struct sim_event *event)
{
	if (sim.open_fds + 3 >= perf_sim_machine.fd_limit)
		return -EMFILE; /* 3: the standard ones */
	for (int at = 0; at < SIM_FDS; at++) {
		if (sim.fds[at])
			continue;
		sim.fds[at] = event;
		sim.open_fds++;
		if (sim.open_fds > sim.peak_fds)
			sim.peak_fds = sim.open_fds;
		return at + SIM_FIRST_FD;
	}
	return -EMFILE;
}

/* A group's members share task and CPU, and the leader leads itself. [v6.18
 * core.c]; a hardware group that no PMU can hold is EINVAL [man]. */
static int check_group(const struct perf_event_attr *attr,
                       const struct sim_event *leader,
                       const struct sim_task *task, int cpu)
{
	unsigned members = 1;

	if (!leader)
		return 0;
	if (leader->leader != leader || leader->task != task ||
	    leader->cpu != cpu || attr->pinned || attr->exclusive ||
	    attr->use_clockid != leader->attr.use_clockid ||
	    attr->clockid != leader->attr.clockid)
		return -EINVAL;
	if (!sim_is_hardware(attr))
		return 0;
	for (struct sim_event *at = task->events; at; at = at->next)
		members += at->leader == leader && sim_is_hardware(&at->attr);
	return members > perf_sim_machine.counters ? -EINVAL : 0;
}

int sim_open_event(void *self, struct perf_event_attr *attr, int64_t pid,
                   int cpu, int group_fd, unsigned long flags)
{
	struct sim_event *event, *leader, *folder = NULL;
	struct sim_task *task;
	int error = sim_fault(SIM_OPEN);
	int fd;

	(void)self;
	/* [v6.18 core.c perf_cgroup_connect]: a CPU's, while the group runs
	 * there; here nobody measures by such a one. */
	if (flags & PERF_FLAG_PID_CGROUP) {
		folder = sim_of_fd((int)pid);
		pid = -1;
	}
	error = error ? error : sim_check_attr(attr, pid, cpu, flags);
	if (error)
		return error;
	if (flags & PERF_FLAG_PID_CGROUP && (!folder || !folder->is_folder))
		return -EBADF;
	/* [v6.18 cgroup.c css_tryget_online_from_dir] */
	if (flags & PERF_FLAG_PID_CGROUP && perf_sim_machine.is_group_astray)
		return -ENOENT;
	leader = group_fd < 0 ? NULL : sim_of_fd(group_fd);
	task = pid < 0 ? &sim.contexts[cpu] : sim_task(pid);
	if (group_fd >= 0 && !leader)
		return -EBADF;
	if (!task)
		return -ESRCH;
	error = check_group(attr, leader, task, cpu);
	if (error)
		return error;
	event = calloc(1, sizeof(*event));
	fd = event ? sim_new_fd(event) : -ENOMEM;
	if (fd < 0) {
		free(event);
		return fd;
	}
	event->attr = *attr;
	event->leader = leader ? leader : event;
	event->task = task;
	event->cpu = cpu;
	event->id = ++sim.next_id;
	event->is_on = !attr->disabled;
	event->left = attr->freq ? 1000000000u / attr->sample_freq
	                         : attr->sample_period;
	event->next = task->events;
	task->events = event;
	return fd;
}
