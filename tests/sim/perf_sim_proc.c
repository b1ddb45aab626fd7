/* SPDX-License-Identifier: MIT */
/* Clocks, /proc and /sys of the simulated kernel. */
#include "tests/sim/perf_sim_state.h"

#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A clock event without a ring: the caller samples itself while it reads the
 * clock, 100 ns a time. Its next reading but one period is late by what an
 * interrupt takes [run]. Nobody else's time passes. */
static uint64_t spin(void)
{
	uint64_t before = sim.spun_ns;

	for (int fd = 0; fd < SIM_FDS; fd++) {
		const struct sim_event *at = sim.fds[fd];

		if (!at || at->ring || !at->is_on || !at->attr.sample_period ||
		    at->attr.type != PERF_TYPE_SOFTWARE)
			continue;
		sim.spun_ns += 100;
		if (before / at->attr.sample_period !=
		    sim.spun_ns / at->attr.sample_period)
			sim.spun_ns += perf_sim_machine.interrupt_ns;
		if (perf_sim_machine.preempted_ns &&
		    before / 200000 != sim.spun_ns / 200000) {
			sim.spun_ns += perf_sim_machine.preempted_ns;
			sim.switches++;
		}
		return sim.spun_ns;
	}
	sim.spun_ns = 0;
	return 0;
}

int sim_get_clock(void *self, int32_t clock, uint64_t *ns)
{
	int error = sim_fault(SIM_CLOCK);

	(void)self;
	if (error)
		return error;
	if (clock == CLOCK_MONOTONIC) {
		*ns = sim.now_ns + spin();
		return 0;
	}
	if (clock == CLOCK_PROCESS_CPUTIME_ID) {
		*ns = perf_sim_cpu_time(sim.main_tid);
		return 0;
	}
	/* [v6.18 kernel/time/posix-cpu-timers.c pid_for_clock]: threads of
	 * this process only, processes of all. */
	for (struct sim_task *task = sim.tasks; task; task = task->next) {
		if (!task->is_alive)
			continue;
		if (clock == perf_clock_of_thread(task->tid) &&
		    task->pid == sim.main_tid) {
			*ns = task->cpu_ns;
			return 0;
		}
		/* also while other threads go on without the first */
		if (clock == perf_clock_of_process(task->pid)) {
			*ns = perf_sim_cpu_time(task->pid);
			return 0;
		}
	}
	return -EINVAL;
}

static size_t list_threads(int64_t pid, int64_t *out, size_t room)
{
	size_t count = 0;

	for (struct sim_task *task = sim.tasks; task; task = task->next) {
		if (task->pid != pid || !task->is_alive)
			continue;
		if (count < room)
			out[count] = task->tid;
		count++;
	}
	return count;
}

static size_t list_processes(int64_t *out, size_t room)
{
	size_t count = 0;

	for (struct sim_task *task = sim.tasks; task; task = task->next) {
		if (task->pid != task->tid || !task->is_alive)
			continue;
		if (count < room)
			out[count] = task->tid;
		count++;
	}
	return count;
}

int sim_list_numbers(void *self, const char *folder, int64_t *out,
                     size_t room, size_t *count)
{
	long long pid;
	int error = sim_fault(SIM_LIST);

	(void)self;
	if (error)
		return error;
	if (strcmp(folder, "/proc/self/fd") == 0) {
		*count = sim.open_fds + 3;
		return 0;
	}
	if (strcmp(folder, "/proc") == 0) {
		*count = list_processes(out, room);
		return 0;
	}
	if (sscanf(folder, "/proc/%lld/task", &pid) != 1)
		return -ENOENT;
	if (perf_sim_machine.on_list)
		perf_sim_machine.on_list();
	*count = list_threads(pid, out, room);
	return *count ? 0 : -ENOENT;
}

/* Each path of perf_sim_machine.files in turn: its name below `folder`. */
static bool is_below(const char *folder, const char *path, char *name,
                     size_t bytes)
{
	size_t length = strlen(folder);

	if (strncmp(path, folder, length) != 0 || path[length] != '/')
		return false;
	path += length + 1;
	snprintf(name, bytes, "%.*s", (int)strcspn(path, "/"), path);
	return true;
}

/* Whether an earlier file has given the same name. */
static bool was_named(const char *folder, const char *const *until,
                      const char *name)
{
	char other[128];

	for (const char *const *at = perf_sim_machine.files; at < until;
	     at += 2)
		if (is_below(folder, at[0], other, sizeof(other)) &&
		    strcmp(other, name) == 0)
			return true;
	return false;
}

int sim_list_names(void *self, const char *folder, char *out, size_t room,
                   size_t *bytes)
{
	int error = sim_fault(SIM_LIST);
	char name[128];

	(void)self;
	*bytes = 0;
	if (error)
		return error;
	*bytes = sim_list_tracefs(folder, out, room);
	if (*bytes != SIZE_MAX)
		return 0;
	*bytes = 0;
	for (const char *const *at = perf_sim_machine.files; at && at[0];
	     at += 2) {
		if (!is_below(folder, at[0], name, sizeof(name)) ||
		    was_named(folder, at, name))
			continue;
		if (*bytes + strlen(name) + 1 <= room)
			strcpy(out + *bytes, name);
		*bytes += strlen(name) + 1;
	}
	return *bytes ? 0 : -ENOENT;
}

static const char *const *find_file(const char *path)
{
	for (const char *const *at = perf_sim_machine.files; at && at[0];
	     at += 2)
		if (strcmp(at[0], path) == 0)
			return at;
	return NULL;
}

static bool print_file(const char *path, char *out, size_t room)
{
	const char *const *file = find_file(path);

	if (!file || !file[1])
		return false;
	snprintf(out, room, "%s", file[1]);
	return true;
}

static bool print_setting(const char *path, char *out, size_t room)
{
	const struct perf_sim_machine *machine = &perf_sim_machine;

	if (!strcmp(path, "/sys/devices/system/cpu/online"))
		snprintf(out, room, "0-%u\n", machine->cpus - 1);
	else if (!strcmp(path, "/proc/sys/kernel/perf_event_paranoid"))
		snprintf(out, room, "%d\n", machine->paranoid);
	else if (!strcmp(path, "/proc/sys/kernel/perf_event_max_sample_rate"))
		snprintf(out, room, "%llu\n",
		         (unsigned long long)machine->rate_limit);
	else if (!strcmp(path, "/proc/sys/kernel/perf_event_max_stack"))
		snprintf(out, room, "127\n");
	else if (!strcmp(path, "/proc/sys/kernel/perf_event_mlock_kb"))
		snprintf(out, room, "516\n");
	else if (!strcmp(path, "/proc/self/status"))
		snprintf(out, room, "Name:\tmain\nCapEff:\t%s\nSeccomp:\t%d\n",
		         machine->is_privileged ? "000001ffffffffff"
		                                : "0000000000000000",
		         machine->has_filter ? 2 : 0);
	else
		return false;
	/* A kernel without perf events has no such files. */
	return machine->syscall_error != ENOSYS || machine->has_filter ||
	       !strstr(path, "perf_event");
}

/* proc_stat(5): hundredths of a second, of which the fourth number is idle. */
static bool print_cpus(const char *path, char *out, size_t room)
{
	size_t used;

	if (strcmp(path, "/proc/stat") != 0 || perf_sim_machine.lacks_stat)
		return false;
	used = (size_t)snprintf(out, room, "cpu  0 0 0 0 0 0 0 0 0 0\n");
	for (unsigned cpu = 0; cpu < perf_sim_machine.cpus; cpu++)
		used += (size_t)snprintf(
			out + used, room - used,
			"cpu%u 7 1 3 %llu 0 2 1 0 0 0\n", cpu,
			(unsigned long long)(sim.idle_ns[cpu] / 10000000));
	return true;
}

static bool print_task(const char *path, char *out, size_t room)
{
	char what[16];
	long long pid, tid;
	const struct sim_task *task;

	if (sscanf(path, "/proc/%lld/task/%lld/%15s", &pid, &tid, what) != 3)
		return false;
	task = sim_task(tid);
	if (!task)
		return false;
	if (!strcmp(what, "comm"))
		snprintf(out, room, "%s\n", task->name);
	else if (!strcmp(what, "schedstat"))
		snprintf(out, room, "%llu 0 1\n",
		         (unsigned long long)task->cpu_ns);
	else
		return false;
	return true;
}

/* proc_pid_stat(5), as far as the parent. */
static bool print_stat(const char *path, char *out, size_t room)
{
	const struct sim_task *task;
	long long pid;
	char what[8];

	if (sscanf(path, "/proc/%lld/%7s", &pid, what) != 2 ||
	    strcmp(what, "stat") != 0)
		return false;
	task = sim_task(pid);
	if (!task)
		return false;
	snprintf(out, room, "%lld (%s) R %lld 1 1 0 -1 4194304\n", pid,
	         task->name, (long long)task->parent_pid);
	return true;
}

static bool print_maps(const char *path, char *out, size_t room)
{
	const struct sim_task *task;
	size_t used = 0;
	long long pid;
	char what[8];

	if (sscanf(path, "/proc/%lld/%7s", &pid, what) != 2 ||
	    strcmp(what, "maps") != 0)
		return false;
	task = sim_task(pid);
	if (!task)
		return false;
	out[0] = '\0';
	for (const struct sim_mapping *at = task->mappings; at; at = at->next)
		used += (size_t)snprintf(
			out + used, room - used,
			"%llx-%llx r-xp 00001000 08:01 %llu %s\n",
			(unsigned long long)at->address,
			(unsigned long long)(at->address + at->bytes),
			(unsigned long long)at->inode, at->path);
	return true;
}

/* ---- files that are mapped ---- */

/* One number a path. */
uint64_t sim_inode(const char *path)
{
	uint64_t sum = 5381;

	while (*path)
		sum = sum * 33 + (unsigned char)*path++;
	return sum % 1000003;
}

/* As the living process sees it, below /proc/PID/root; else as we do. */
static const struct sim_mapping *find_mapping(const char *path)
{
	long long pid = 0;
	int at = 0;

	if (sscanf(path, "/proc/%lld/root%n", &pid, &at) == 1 && at > 0) {
		if (!sim_task(pid))
			return NULL;
		path += at;
	}
	for (struct sim_task *task = sim.tasks; task; task = task->next)
		for (struct sim_mapping *map = task->mappings; map;
		     map = map->next)
			if (strcmp(map->path, path) == 0)
				return map;
	return NULL;
}

int sim_get_inode(void *self, const char *path, uint64_t *inode)
{
	const struct sim_mapping *mapping = find_mapping(path);
	int error = sim_fault(SIM_FILE);

	(void)self;
	if (error)
		return error;
	if (!strcmp(path, "/proc/self/ns/pid")) {
		*inode = perf_sim_machine.is_container ? 17 : 0xeffffffc;
		return 0;
	}
	*inode = sim_cgroup_inode(path);
	if (*inode)
		return 0;
	if (!mapping)
		return -ENOENT;
	*inode = sim.replaced && strcmp(sim.replaced, mapping->path) == 0
		? mapping->inode + 1 : mapping->inode;
	return 0;
}

/* An ELF file of nothing but a build-id. */
struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Nhdr note;
	char owner[4];
	unsigned char id[20];
};

static size_t make_image(const struct sim_mapping *mapping, void *out)
{
	const uint16_t probe = 1;
	struct image image = {
		.header = {
			.e_phoff = offsetof(struct image, segment),
			.e_phentsize = sizeof(image.segment),
			.e_phnum = mapping->build_id[0] != 0,
		},
		.segment = {
			.p_type = PT_NOTE,
			.p_offset = offsetof(struct image, note),
			.p_filesz = sizeof(image) -
				    offsetof(struct image, note),
		},
		.note = { 4, 20, NT_GNU_BUILD_ID },
		.owner = "GNU",
	};

	memcpy(image.header.e_ident, ELFMAG, SELFMAG);
	image.header.e_ident[EI_CLASS] = ELFCLASS64;
	image.header.e_ident[EI_DATA] =
		*(const unsigned char *)&probe ? ELFDATA2LSB : ELFDATA2MSB;
	memcpy(image.id, mapping->build_id, 20);
	memcpy(out, &image, sizeof(image));
	return sizeof(image);
}

ssize_t sim_read_file(void *self, const char *path, uint64_t offset,
                      void *buffer, size_t bytes)
{
	static char text[8192];
	int error = sim_fault(SIM_FILE);
	size_t length;

	(void)self;
	if (error)
		return error;
	if (find_file(path) && !find_file(path)[1])
		return -EACCES;
	if (print_file(path, text, sizeof(text)) ||
	    sim_print_tracefs(path, text, sizeof(text)) ||
	    print_setting(path, text, sizeof(text)) ||
	    print_cpus(path, text, sizeof(text)) ||
	    print_task(path, text, sizeof(text)) ||
	    print_stat(path, text, sizeof(text)) ||
	    sim_print_cgroup(path, text, sizeof(text)) ||
	    print_maps(path, text, sizeof(text)))
		length = strlen(text);
	else if (find_mapping(path))
		length = make_image(find_mapping(path), text);
	else
		return -ENOENT;
	if (offset >= length)
		return 0;
	length -= offset;
	length = length < bytes ? length : bytes;
	memcpy(buffer, text + offset, length);
	return (ssize_t)length;
}
