/* SPDX-License-Identifier: MIT */
/*
 * A control group as the target: the kernel takes a descriptor of its folder
 * in place of a process, and counts on each CPU what runs there of it
 * (perf_event_open(2), PERF_FLAG_PID_CGROUP). Where CPUs are sampled for it
 * instead (perf_family.c), samples say in which group their thread is.
 */
#include "backends/perf/kernel/perf_proc.h"
#include "backends/perf/kernel/perf_refusal.h"
#include "backends/perf/session/perf_target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
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

/* Whether a path leads to a folder or into it. */
static bool is_below(const char *path, const char *folder)
{
	size_t length = strlen(folder);

	while (length && folder[length - 1] == '/')
		length--;
	return strncmp(path, folder, length) == 0 &&
	       (path[length] == '/' || path[length] == '\0');
}

/* By its name in a hierarchy, or by its folder. */
portprof_status ppi_perf_open_cgroup(struct ppi_backend_session *bs,
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
		for (size_t i = 0; i < MOUNTS; i++)
			if (is_below(name, mounts[i]))
				state->cgroup.mount = mounts[i];
		state->cgroup.name = name + strlen(state->cgroup.mount);
	}
	for (size_t i = 0; fd < 0 && i < MOUNTS; i++) {
		snprintf(path, sizeof(path), "%s/%s", mounts[i],
		         name + (name[0] == '/'));
		fd = kernel->open_folder(kernel->self, path);
		if (fd < 0 && fd != -ENOENT)
			worst = -fd;
		state->cgroup.mount = mounts[i];
		state->cgroup.name = name;
	}
	if (fd < 0)
		return refuse(bs, worst, why);
	state->cgroup.fd = fd;
	state->cgroup.is_open = true;
	return PORTPROF_OK;
}

int ppi_perf_open_on_cpu(const struct ppi_backend_session *bs,
                         struct perf_event_attr *attr, int cpu, int group_fd)
{
	const struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);

	if (!state->cgroup.is_open || state->is_by_cpu)
		return ppi_perf_open_attr(kernel, attr, PERF_ANYBODY, cpu,
		                          group_fd);
	return ppi_perf_open_attr_with(kernel, attr, state->cgroup.fd, cpu,
	                               group_fd, PERF_FLAG_PID_CGROUP);
}

/* Ask for an event of the group that every kernel knows: 0 or an errno. */
static int ask_for_any(const struct ppi_backend_session *bs)
{
	const struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	struct perf_event_attr attr;
	int fd;

	ppi_perf_attr_ring_owner(&state->kind, &attr);
	fd = ppi_perf_open_attr_with(kernel, &attr, state->cgroup.fd,
	                             state->cpus[0], -1, PERF_FLAG_PID_CGROUP);
	if (fd < 0)
		return -fd;
	kernel->close_event(kernel->self, fd, PERF_FRESH);
	return 0;
}

/*
 * What the kernel's answer means for a cgroup and not for a system; false: ask
 * the others. A folder of another hierarchy is ENOENT, as an unknown event is
 * (kernel/cgroup/cgroup.c, css_tryget_online_from_dir); what is no cgroup at all
 * is EBADF.
 */
bool ppi_perf_refuse_cgroup(const struct ppi_backend_session *bs, int os_error,
                            struct ppi_diag *why)
{
	bool is_astray = os_error == EBADF;

	if (!bs->plan->target.cgroup || !perf_state_of(bs)->cgroup.is_open)
		return false;
	if (os_error == ENOENT)
		is_astray = ask_for_any(bs) == ENOENT;
	if (!is_astray && os_error != EINVAL)
		return false;
	ppi_fail(why, PORTPROF_E_UNSUPPORTED, os_error, "open event",
	         "'%s' cannot be measured as a cgroup: %s", bs->plan->target.cgroup,
	         is_astray
	         ? "the folder is none of the hierarchy that knows perf events "
	           "(version 2, or version 1's perf_event, which may not be "
	           "mounted); name its processes by -p, --unit or --container"
	         : "this kernel was built without CONFIG_CGROUP_PERF");
	return true;
}

/* ---- where CPUs are sampled: whose samples are the group's ---- */

struct perf_cgroup_known {
	uint64_t id;
	bool is_inside;
};

/* The folder's path in the hierarchy, with a slash in front. */
static void group_path(const struct perf_state *state, char *out, size_t room)
{
	const char *name = state->cgroup.name;

	snprintf(out, room, "/%s", name + (name[0] == '/'));
}

static void file_of(const struct perf_state *state, const char *group,
                    const char *file, char *out, size_t room)
{
	snprintf(out, room, "%s%s%s", state->cgroup.mount, group, file);
}

bool ppi_perf_cgroup_time(const struct ppi_backend_session *bs, uint64_t *ns)
{
	const struct perf_state *state = perf_state_of(bs);
	char group[PATH_ROOM], path[2 * PATH_ROOM], text[512];
	unsigned long long us;
	const char *at;

	group_path(state, group, sizeof(group));
	file_of(state, group, "/cpu.stat", path, sizeof(path));
	if (!ppi_perf_proc_text(perf_kernel_of(bs->kernel), path, text,
	                        sizeof(text)))
		return false;
	at = strstr(text, "usage_usec ");
	if (!at || sscanf(at, "usage_usec %llu", &us) != 1)
		return false;
	*ns = us * 1000;
	return true;
}

static portprof_status refuse_hierarchy(const struct ppi_backend_session *bs,
                                        int error, struct ppi_diag *why)
{
	return ppi_perf_refuse_cgroup(bs, error, why)
		? why->status
		: ppi_perf_refuse_open(perf_kernel_of(bs->kernel), NULL, error,
		                       why);
}

/* A group of another hierarchy would have no sample: ask for an event of it. */
portprof_status ppi_perf_cgroup_check(struct ppi_backend_session *bs,
                                      struct ppi_diag *why)
{
	int error = ask_for_any(bs);

	return error ? refuse_hierarchy(bs, error, why) : PORTPROF_OK;
}

/* The line of /proc/PID/cgroup about the hierarchy: "0::PATH" of version 2,
 * "N:perf_event:PATH" of version 1. cgroups(7). */
static bool find_path(const struct perf_state *state, const char *text,
                      char *out, size_t room)
{
	bool is_old = strcmp(state->cgroup.mount, mounts[MOUNTS - 1]) == 0;

	for (const char *line = text; line; line = strchr(line, '\n')) {
		const char *path;

		line += *line == '\n';
		path = strstr(line, is_old ? ":perf_event:" : "0::");
		if (!path || (!is_old && path != line) ||
		    (size_t)(path - line) > strcspn(line, "\n"))
			continue;
		path = strchr(line, '/');
		if (!path || strcspn(path, "\n") >= room)
			return false;
		snprintf(out, room, "%.*s", (int)strcspn(path, "\n"), path);
		return true;
	}
	return false;
}

/* A sample's number of a group is that of its folder (kernel/cgroup/cgroup.c,
 * cgroup_id). Its process is in it, unless it has moved since. */
static bool look_up(const struct ppi_backend_session *bs,
                    const struct perf_seen *seen, bool *is_inside)
{
	const struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	char text[2 * PATH_ROOM], group[PATH_ROOM], path[2 * PATH_ROOM];
	char target[PATH_ROOM];
	uint64_t inode;

	snprintf(path, sizeof(path), "/proc/%u/cgroup", (unsigned)seen->pid);
	if (!ppi_perf_proc_text(kernel, path, text, sizeof(text)) ||
	    !find_path(state, text, group, sizeof(group)))
		return false;
	file_of(state, group, "", path, sizeof(path));
	if (kernel->get_inode(kernel->self, path, &inode) < 0 ||
	    inode != seen->cgroup)
		return false;
	group_path(state, target, sizeof(target));
	*is_inside = is_below(group, target);
	return true;
}

static bool remember(struct perf_state *state, size_t at, uint64_t id,
                     bool is_inside)
{
	size_t count = state->cgroup.known_count;
	struct perf_cgroup_known *more =
		realloc(state->cgroup.known, (count + 1) * sizeof(*more));

	if (!more)
		return false;
	memmove(more + at + 1, more + at, (count - at) * sizeof(*more));
	more[at] = (struct perf_cgroup_known){ id, is_inside };
	state->cgroup.known = more;
	state->cgroup.known_count++;
	return true;
}

bool ppi_perf_cgroup_has(struct ppi_backend_session *bs,
                         const struct perf_seen *seen)
{
	struct perf_state *state = perf_state_of(bs);
	size_t low = 0, high = state->cgroup.known_count;
	bool is_inside = false;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (state->cgroup.known[middle].id < seen->cgroup)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < state->cgroup.known_count &&
	    state->cgroup.known[low].id == seen->cgroup)
		return state->cgroup.known[low].is_inside;
	if (look_up(bs, seen, &is_inside)) {
		remember(state, low, seen->cgroup, is_inside);
	} else if (!state->cgroup.has_lost) {
		state->cgroup.has_lost = true;
		ppi_note(bs, "samples of processes that had ended before their "
		         "cgroup was known are left out: some may have been "
		         "of '%s'", bs->plan->target.cgroup);
	}
	return is_inside;
}
