/* SPDX-License-Identifier: MIT */
/* Reads /proc and /sys for the perf backend, through its seam. */
#include "backends/perf/kernel/perf_proc.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool ppi_perf_proc_text(const struct perf_kernel *kernel, const char *path,
                        char *out, size_t room)
{
	ssize_t got = kernel->read_file(kernel->self, path, 0, out, room - 1);

	if (got < 0)
		return false;
	out[got] = '\0';
	return true;
}

int64_t ppi_perf_proc_number(const struct perf_kernel *kernel, const char *path,
                             int64_t otherwise)
{
	char text[64], *end;
	long long number;

	if (!ppi_perf_proc_text(kernel, path, text, sizeof(text)))
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

enum { CPUS_MAX = 8192, STAT_BYTES = 1 << 20 };

/* A chroot may have no /sys: /proc/stat has a line for each CPU that is online,
 * proc_stat(5). */
static int cpus_of_stat(const struct perf_kernel *kernel, int *out,
                        size_t *count)
{
	char *text = malloc(STAT_BYTES);

	if (!text)
		return -ENOMEM;
	if (ppi_perf_proc_text(kernel, "/proc/stat", text, STAT_BYTES))
		for (const char *line = text; line && *count < CPUS_MAX;) {
			if (!strncmp(line, "cpu", 3) && line[3] >= '0' &&
			    line[3] <= '9')
				out[(*count)++] = atoi(line + 3);
			line = strchr(line, '\n');
			line = line ? line + 1 : NULL;
		}
	free(text);
	return *count > 0 ? 0 : -ENOENT;
}

int ppi_perf_proc_cpus(const struct perf_kernel *kernel, int **cpus,
                       size_t *count)
{
	char text[4096];
	int *list = malloc(CPUS_MAX * sizeof(*list));
	ssize_t got = list ? kernel->read_file(
		kernel->self, "/sys/devices/system/cpu/online", 0, text,
		sizeof(text) - 1) : -ENOMEM;
	int error;

	if (!list)
		return -ENOMEM;
	text[got > 0 ? got : 0] = '\0';
	*count = parse_cpu_list(text, list, CPUS_MAX);
	error = *count > 0 ? 0 : cpus_of_stat(kernel, list, count);
	if (error < 0) {
		free(list);
		list = NULL;
	}
	*cpus = list;
	return error == -ENOENT && got < 0 ? (int)got : error;
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

bool ppi_perf_proc_has_cpu(const char *list, int cpu)
{
	long first, last;

	while (next_range(&list, &first, &last))
		if (first <= cpu && cpu <= last)
			return true;
	return false;
}

bool ppi_perf_proc_pick_cpus(const char *list, int *cpus, size_t *count)
{
	const char *text = list;
	size_t kept = 0;
	long first, last;

	while (next_range(&text, &first, &last))
		for (long cpu = first; cpu <= last; cpu++)
			if (!is_in(cpus, *count, cpu))
				return false;
	for (size_t i = 0; i < *count; i++)
		if (ppi_perf_proc_has_cpu(list, cpus[i]))
			cpus[kept++] = cpus[i];
	*count = kept;
	return true;
}

static bool is_mounted(const struct perf_kernel *kernel)
{
	char byte;

	return kernel->read_file(kernel->self, "/proc/self/status", 0, &byte,
	                         1) != -ENOENT;
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
		if (error != -ENOENT)
			return error;
		return is_mounted(kernel) ? -ESRCH : -ENOSYS;
	}
	qsort(list, found, sizeof(*list), compare_ids);
	*tids = list;
	*count = found;
	return 0;
}

int ppi_perf_proc_threads(const struct perf_kernel *kernel, int64_t pid,
                          int64_t **tids, size_t *count)
{
	char folder[64];

	snprintf(folder, sizeof(folder), "/proc/%lld/task",
	         (long long)(pid ? pid : kernel->get_pid(kernel->self)));
	return list_ids(kernel, folder, tids, count);
}

int ppi_perf_proc_processes(const struct perf_kernel *kernel, int64_t **pids,
                            size_t *count)
{
	return list_ids(kernel, "/proc", pids, count);
}

/* Who made it, or took it over; 0 when it has ended. proc_pid_stat(5): the fourth
 * field. The second is a name in parentheses, with anything in it. */
static int64_t parent_of(const struct perf_kernel *kernel, int64_t pid)
{
	char path[64], text[512], *behind;
	long long parent = 0;

	snprintf(path, sizeof(path), "/proc/%lld/stat", (long long)pid);
	if (!ppi_perf_proc_text(kernel, path, text, sizeof(text)))
		return 0;
	behind = strrchr(text, ')');
	if (!behind || sscanf(behind + 1, " %*c %lld", &parent) != 1)
		return 0;
	return parent;
}

/* The index of an id in a sorted list; SIZE_MAX none. */
static size_t index_of(const int64_t *ids, size_t count, int64_t id)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ids[middle] < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && ids[low] == id ? low : SIZE_MAX;
}

static bool is_among(const int64_t *ids, size_t count, int64_t id)
{
	for (size_t i = 0; i < count; i++)
		if (ids[i] == id)
			return true;
	return false;
}

int ppi_perf_proc_family(const struct perf_kernel *kernel, const int64_t *roots,
                         size_t root_count, int64_t **pids, size_t *count)
{
	enum { GENERATIONS_MAX = 64 };
	int64_t own = kernel->get_pid(kernel->self), *all, *parents;
	bool *is_kin;
	size_t listed, kept = 0;
	int error = ppi_perf_proc_processes(kernel, &all, &listed);

	if (error < 0)
		return error;
	parents = calloc(listed + 1, sizeof(*parents));
	is_kin = calloc(listed + 1, sizeof(*is_kin));
	if (!parents || !is_kin) {
		free(parents);
		free(is_kin);
		free(all);
		return -ENOMEM;
	}
	for (size_t i = 0; i < listed; i++)
		parents[i] = parent_of(kernel, all[i]);
	for (size_t i = 0; i < listed; i++) {
		int64_t at = all[i];

		for (int up = 0; up < GENERATIONS_MAX && at > 1 &&
		     !is_among(roots, root_count, at); up++) {
			size_t number = index_of(all, listed, at);

			at = number == SIZE_MAX || at == own ? 0
			                                     : parents[number];
		}
		is_kin[i] = is_among(roots, root_count, at);
	}
	for (size_t i = 0; i < listed; i++)
		if (is_kin[i])
			all[kept++] = all[i];
	free(parents);
	free(is_kin);
	*pids = all;
	*count = kept;
	return 0;
}

uint64_t ppi_perf_proc_free_fds(const struct perf_kernel *kernel,
                                uint64_t *limit)
{
	int64_t unused[1];
	size_t open = 0;

	*limit = 0;
	if (kernel->get_fd_limit(kernel->self, limit) < 0)
		*limit = 1024;
	/* listing takes as long as there are many */
	if (kernel->count_fds(kernel->self, &open) < 0 || open == 0)
		kernel->list_numbers(kernel->self, "/proc/self/fd", unused, 1,
		                     &open);
	return *limit > open ? *limit - open : 0;
}

bool ppi_perf_proc_thread_name(const struct perf_kernel *kernel, int64_t pid,
                               int64_t tid, char *out, size_t room)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%lld/task/%lld/comm",
	         (long long)pid, (long long)tid);
	if (!ppi_perf_proc_text(kernel, path, out, room))
		return false;
	out[strcspn(out, "\n")] = '\0';
	return true;
}

bool ppi_perf_proc_thread_time(const struct perf_kernel *kernel, int64_t pid,
                               int64_t tid, uint64_t *ns)
{
	char path[96];
	int64_t ran;

	/* Time on a CPU, in ns, comes first: fs/proc/base.c. */
	snprintf(path, sizeof(path), "/proc/%lld/task/%lld/schedstat",
	         (long long)pid, (long long)tid);
	ran = ppi_perf_proc_number(kernel, path, -1);
	if (ran < 0)
		return false;
	*ns = (uint64_t)ran;
	return true;
}

/* One line of /proc/PID/maps; false unless it is well-formed:
 * start-end perms offset device inode path, proc_pid_maps(5). */
static bool parse_mapping(const char *line, struct perf_mapping *mapping,
                          bool *is_code)
{
	unsigned long long start, end, offset, inode;
	struct perf_file_key file = { 0 };
	char perms[5];
	int path_at = 0;

	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &start, &end,
	           perms, &offset, &file.device_major, &file.device_minor,
	           &inode, &path_at) < 7 || end <= start)
		return false;
	file.inode = inode;
	mapping->file = file;
	mapping->start = start;
	mapping->end = end;
	mapping->file_offset = offset;
	snprintf(mapping->path, sizeof(mapping->path), "%s",
	         path_at ? line + path_at : "");
	*is_code = perms[2] == 'x';
	return true;
}

/* The list, as far as it was read. */
struct maps {
	struct perf_mapping room[3];
	struct perf_mapping *before; /* the line before; NULL */
	struct perf_mapping *amid;   /* code behind that, of no file; NULL */
	struct perf_mapping *line;
};

static bool is_of(const struct perf_mapping *mapping,
                  const struct perf_mapping *of)
{
	return mapping->file.inode == of->file.inode &&
	       strcmp(mapping->path, of->path) == 0 &&
	       mapping->file_offset - of->file_offset ==
		       mapping->start - of->start;
}

/* Memory amid a file is text that was moved to huge pages, in the place of what
 * was mapped there: it is that file's. */
static void take_amid(struct maps *maps, bool has_more, perf_mapping_fn take,
                      void *context)
{
	struct perf_mapping *amid = maps->amid, *before = maps->before;

	if (has_more && maps->line->start == amid->end &&
	    is_of(maps->line, before)) {
		amid->file = before->file;
		amid->file_offset =
			before->file_offset + (amid->start - before->start);
		memcpy(amid->path, before->path, sizeof(amid->path));
	}
	take(context, amid);
	maps->amid = NULL;
}

static struct perf_mapping *free_of(struct maps *maps)
{
	struct perf_mapping *free = maps->room;

	while (free == maps->before || free == maps->amid)
		free++;
	return free;
}

static void take_line(struct maps *maps, const char *text, perf_mapping_fn take,
                      void *context)
{
	const struct perf_mapping *before = maps->before;
	bool is_code;

	maps->line = free_of(maps);
	if (!parse_mapping(text, maps->line, &is_code))
		return;
	if (maps->amid)
		take_amid(maps, true, take, context);
	if (is_code && before && before->path[0] == '/' &&
	    before->end == maps->line->start && !is_of(maps->line, before)) {
		maps->amid = maps->line;
		return;
	}
	maps->before = maps->line;
	if (is_code)
		take(context, maps->line);
}

void ppi_perf_proc_mappings(const struct perf_kernel *kernel, int64_t pid,
                            perf_mapping_fn take, void *context)
{
	enum { ROOM = 2 * PERF_PATH_ROOM };
	struct { char text[ROOM + 1]; struct maps maps; } *work;
	uint64_t offset = 0;
	char path[64];

	work = malloc(sizeof(*work));
	if (!work)
		return;
	work->maps.before = work->maps.amid = NULL;
	snprintf(path, sizeof(path), "/proc/%lld/maps", (long long)pid);
	/* Whole lines only; each read continues where the last line ended. */
	for (;;) {
		ssize_t got = kernel->read_file(kernel->self, path, offset,
		                                work->text, ROOM);
		char *line = work->text, *end;

		if (got <= 0)
			break;
		work->text[got] = '\0';
		while ((end = strchr(line, '\n')) != NULL) {
			*end = '\0';
			take_line(&work->maps, line, take, context);
			line = end + 1;
		}
		if (line == work->text)
			break; /* one line longer than all room: not maps */
		offset += (uint64_t)(line - work->text);
	}
	if (work->maps.amid)
		take_amid(&work->maps, false, take, context);
	free(work);
}

struct search {
	uint64_t address;
	struct perf_mapping *found;
};

static void search_mapping(void *context, const struct perf_mapping *mapping)
{
	struct search *search = context;
	uint64_t address = search->address;

	if (search->found || address < mapping->start || address >= mapping->end)
		return;
	search->found = malloc(sizeof(*mapping));
	if (!search->found)
		return;
	*search->found = *mapping;
	search->found->file_offset += address - mapping->start;
}

struct perf_mapping *ppi_perf_proc_mapping_at(const struct perf_kernel *kernel,
                                              int64_t pid, uint64_t address)
{
	struct search search = { address, NULL };

	ppi_perf_proc_mappings(kernel, pid, search_mapping, &search);
	return search.found;
}

/* ---- where tracefs is ---- */

enum { TRACEFS_PATH = 64 };

const char *ppi_perf_tracepoint_folder(const struct perf_kernel *kernel,
                                       int *error)
{
	static const char *const places[] = {
		"/sys/kernel/tracing", /* Documentation/trace/ftrace.rst, 4.1 */
		"/sys/kernel/debug/tracing",
	};

	for (size_t i = 0; i < 2; i++) {
		char path[TRACEFS_PATH], byte;
		ssize_t got;

		snprintf(path, sizeof(path), "%s/available_events", places[i]);
		got = kernel->read_file(kernel->self, path, 0, &byte, 1);
		if (got >= 0)
			return places[i];
		/* debugfs, where the second place would be, is closed to
		 * users whether tracefs is mounted or not */
		if (i == 0)
			*error = (int)-got;
	}
	return NULL;
}
