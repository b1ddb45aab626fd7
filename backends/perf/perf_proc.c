/* SPDX-License-Identifier: MIT */
/* What /proc and /sys tell the perf backend. */
#include "backends/perf/perf_proc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool perf_proc_text(const struct perf_kernel *kernel, const char *path,
                    char *out, size_t room)
{
	ssize_t got = kernel->read_file(kernel->self, path, 0, out, room - 1);

	if (got < 0)
		return false;
	out[got] = '\0';
	return true;
}

int64_t perf_proc_number(const struct perf_kernel *kernel, const char *path,
                         int64_t otherwise)
{
	char text[64], *end;
	long long number;

	if (!perf_proc_text(kernel, path, text, sizeof(text)))
		return otherwise;
	number = strtoll(text, &end, 10);
	return end == text ? otherwise : number;
}

/* One "5" or "8-11" of a list such as "0-3,5,8-11", which *text is behind
 * then: Documentation/admin-guide/cputopology.rst. False at its end. */
static bool next_range(const char **text, long *first, long *last)
{
	char *end;

	if (**text < '0' || **text > '9')
		return false;
	*first = *last = strtol(*text, &end, 10);
	if (*end == '-')
		*last = strtol(end + 1, &end, 10);
	*text = *end == ',' ? end + 1 : end;
	return true;
}

static size_t parse_cpu_list(const char *text, int *out, size_t room)
{
	size_t count = 0;
	long first, last;

	while (next_range(&text, &first, &last))
		for (long cpu = first; cpu <= last && count < room; cpu++)
			out[count++] = (int)cpu;
	return count;
}

int perf_proc_cpus(const struct perf_kernel *kernel, int **cpus, size_t *count)
{
	enum { ROOM = 8192 };
	char text[4096];
	int *list = malloc(ROOM * sizeof(*list));
	ssize_t got = list ? kernel->read_file(
		kernel->self, "/sys/devices/system/cpu/online", 0, text,
		sizeof(text) - 1) : -ENOMEM;

	if (got >= 0) {
		text[got] = '\0';
		*count = parse_cpu_list(text, list, ROOM);
		*cpus = list;
		if (*count > 0)
			return 0;
		got = -ENOENT;
	}
	free(list);
	return (int)got;
}

static int compare_ids(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

static bool is_in(const int *cpus, size_t count, long cpu)
{
	for (size_t i = 0; i < count; i++)
		if (cpus[i] == cpu)
			return true;
	return false;
}

static bool is_listed(const char *list, int cpu)
{
	long first, last;

	while (next_range(&list, &first, &last))
		if (first <= cpu && cpu <= last)
			return true;
	return false;
}

bool perf_proc_pick_cpus(const char *list, int *cpus, size_t *count)
{
	const char *text = list;
	size_t kept = 0;
	long first, last;

	while (next_range(&text, &first, &last))
		for (long cpu = first; cpu <= last; cpu++)
			if (!is_in(cpus, *count, cpu))
				return false;
	for (size_t i = 0; i < *count; i++)
		if (is_listed(list, cpus[i]))
			cpus[kept++] = cpus[i];
	*count = kept;
	return true;
}

static int list_ids(const struct perf_kernel *kernel, const char *folder,
                    int64_t **tids, size_t *count)
{
	size_t room = 64, found = 0;
	int64_t *list = NULL;
	int error;

	do { /* again with more room when there were more */
		int64_t *larger;

		room = found > room ? found + found / 4 : room;
		larger = realloc(list, room * sizeof(*list));
		error = larger ? 0 : -ENOMEM;
		if (larger) {
			list = larger;
			error = kernel->list_numbers(kernel->self, folder,
			                             list, room, &found);
		}
	} while (error == 0 && found > room);
	if (error < 0) {
		free(list);
		return error == -ENOENT ? -ESRCH : error;
	}
	qsort(list, found, sizeof(*list), compare_ids);
	*tids = list;
	*count = found;
	return 0;
}

int perf_proc_threads(const struct perf_kernel *kernel, int64_t pid,
                      int64_t **tids, size_t *count)
{
	char folder[64];

	snprintf(folder, sizeof(folder), "/proc/%lld/task",
	         (long long)(pid ? pid : kernel->get_pid(kernel->self)));
	return list_ids(kernel, folder, tids, count);
}

int perf_proc_processes(const struct perf_kernel *kernel, int64_t **pids,
                        size_t *count)
{
	return list_ids(kernel, "/proc", pids, count);
}

uint64_t perf_proc_free_fds(const struct perf_kernel *kernel, uint64_t *limit)
{
	int64_t unused[1];
	size_t open = 0;

	*limit = 0;
	if (kernel->get_fd_limit(kernel->self, limit) < 0)
		*limit = 1024;
	kernel->list_numbers(kernel->self, "/proc/self/fd", unused, 1, &open);
	return *limit > open ? *limit - open : 0;
}

bool perf_proc_thread_name(const struct perf_kernel *kernel, int64_t pid,
                           int64_t tid, char *out, size_t room)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%lld/task/%lld/comm",
	         (long long)pid, (long long)tid);
	if (!perf_proc_text(kernel, path, out, room))
		return false;
	out[strcspn(out, "\n")] = '\0';
	return true;
}

bool perf_proc_thread_time(const struct perf_kernel *kernel, int64_t pid,
                           int64_t tid, uint64_t *ns)
{
	char path[96];
	int64_t ran;

	/* Time on a CPU, in ns, comes first: fs/proc/base.c. */
	snprintf(path, sizeof(path), "/proc/%lld/task/%lld/schedstat",
	         (long long)pid, (long long)tid);
	ran = perf_proc_number(kernel, path, -1);
	if (ran < 0)
		return false;
	*ns = (uint64_t)ran;
	return true;
}

/* start-end perms offset device inode path: proc_pid_maps(5). */
bool perf_proc_parse_mapping(const char *line, struct perf_mapping *mapping)
{
	unsigned long long start, end, offset;
	char perms[5];
	int path_at = 0;

	if (sscanf(line, "%llx-%llx %4s %llx %*s %*s %n", &start, &end, perms,
	           &offset, &path_at) < 4 || end <= start || perms[2] != 'x')
		return false;
	mapping->start = start;
	mapping->end = end;
	mapping->file_offset = offset;
	snprintf(mapping->path, sizeof(mapping->path), "%s",
	         path_at ? line + path_at : "");
	return true;
}

void perf_proc_mappings(const struct perf_kernel *kernel, int64_t pid,
                        perf_mapping_fn take, void *context)
{
	enum { ROOM = 2 * PERF_PATH_ROOM };
	struct { char text[ROOM + 1]; struct perf_mapping mapping; } *work;
	uint64_t offset = 0;
	char path[64];

	work = malloc(sizeof(*work));
	if (!work)
		return;
	snprintf(path, sizeof(path), "/proc/%lld/maps", (long long)pid);
	/* Whole lines only; each read goes on where the last line ended. */
	for (;;) {
		ssize_t got = kernel->read_file(kernel->self, path, offset,
		                                work->text, ROOM);
		char *line = work->text, *end;

		if (got <= 0)
			break;
		work->text[got] = '\0';
		while ((end = strchr(line, '\n')) != NULL) {
			*end = '\0';
			if (perf_proc_parse_mapping(line, &work->mapping))
				take(context, &work->mapping);
			line = end + 1;
		}
		if (line == work->text)
			break; /* one line longer than all room: not maps */
		offset += (uint64_t)(line - work->text);
	}
	free(work);
}
