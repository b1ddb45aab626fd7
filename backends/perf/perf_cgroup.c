/* SPDX-License-Identifier: MIT */
/*
 * A control group as the target: the kernel takes a descriptor of its folder
 * in place of a process, and counts on each CPU what runs there of it
 * (perf_event_open(2), PERF_FLAG_PID_CGROUP).
 */
#include "backends/perf/perf_state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Where systems mount the hierarchy that knows perf events: version 2 alone;
 * beside version 1; version 1's own. cgroups(7). */
static const char *const mounts[] = {
	"/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/perf_event"
};

enum { MOUNTS = sizeof(mounts) / sizeof(mounts[0]), PATH_ROOM = 4096 };

static portprof_status refuse(const struct ppi_backend_session *bs, int error,
                              struct ppi_diag *why)
{
	const char *name = bs->plan->target.cgroup;

	switch (error) {
	case EACCES:
	case EPERM:
		return ppi_fail(why, PORTPROF_E_DENIED, error, "open cgroup",
		                "the folder of cgroup '%s' may not be read by "
		                "this user", name);
	case EMFILE:
	case ENFILE:
		return ppi_fail(why, PORTPROF_E_LIMIT, error, "open cgroup",
		                "no descriptor is free; raise the limit with "
		                "ulimit -n");
	case ENOENT:
	case ENOTDIR:
		return ppi_fail(why, PORTPROF_E_NOTFOUND, error, "open cgroup",
		                "there is no cgroup '%s' below /sys/fs/cgroup; "
		                "/proc/PID/cgroup names a process's, after the "
		                "last colon", name);
	default:
		return ppi_fail(why, PORTPROF_E_SYSTEM, error, "open cgroup",
		                "the folder of cgroup '%s' cannot be opened: "
		                "%s", name, strerror(error));
	}
}

/* By its name in a hierarchy, or by its folder. */
portprof_status perf_open_cgroup(struct ppi_backend_session *bs,
                                 struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	const char *name = bs->plan->target.cgroup;
	char path[PATH_ROOM];
	int fd = -ENOENT, worst = ENOENT;

	if (!name)
		return PORTPROF_OK;
	if (strncmp(name, mounts[0], strlen(mounts[0])) == 0) {
		fd = kernel->open_folder(kernel->self, name);
		worst = -fd;
	}
	for (size_t i = 0; fd < 0 && i < MOUNTS; i++) {
		snprintf(path, sizeof(path), "%s/%s", mounts[i],
		         name + (name[0] == '/'));
		fd = kernel->open_folder(kernel->self, path);
		if (fd < 0 && fd != -ENOENT)
			worst = -fd;
	}
	if (fd < 0)
		return refuse(bs, worst, why);
	state->cgroup_fd = fd;
	state->has_cgroup = true;
	return PORTPROF_OK;
}

int perf_open_on_cpu(const struct ppi_backend_session *bs,
                     struct perf_event_attr *attr, int cpu, int group_fd)
{
	const struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);

	if (!state->has_cgroup)
		return perf_open_attr(kernel, attr, PERF_ANYBODY, cpu,
		                      group_fd);
	return perf_open_attr_with(kernel, attr, state->cgroup_fd, cpu,
	                           group_fd, PERF_FLAG_PID_CGROUP);
}

/* What the kernel's answer means for a cgroup and not for a system; false:
 * ask the others. */
bool perf_refuse_cgroup(const struct ppi_backend_session *bs, int os_error,
                        struct ppi_diag *why)
{
	if (!bs->plan->target.cgroup || (os_error != EBADF && os_error != EINVAL))
		return false;
	ppi_fail(why, PORTPROF_E_UNSUPPORTED, os_error, "open event",
	         "'%s' cannot be measured as a cgroup: %s", bs->plan->target.cgroup,
	         os_error == EBADF
	         ? "the folder is none of the hierarchy that knows perf events "
	           "(version 2, or version 1's perf_event)"
	         : "this kernel was built without CONFIG_CGROUP_PERF");
	return true;
}
