/* SPDX-License-Identifier: MIT */
/* Reads /proc and /sys for the perf backend, through its seam. */
#ifndef PERF_PROC_H
#define PERF_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/perf/kernel/perf_kernel.h"

enum { PERF_PATH_ROOM = 4096 };

/* The kernel's identity of a file; all zero when it is none. */
struct perf_file_key {
	uint32_t device_major, device_minor;
	uint64_t inode, generation; /* /proc tells no generation: 0 */
};

/* The number a small file begins with, or `otherwise`. */
int64_t ppi_perf_proc_number(const struct perf_kernel *kernel, const char *path,
                             int64_t otherwise);

/* Read a small text file, cut to the room, zero-terminated; false if it
 * cannot be read. */
bool ppi_perf_proc_text(const struct perf_kernel *kernel, const char *path,
                        char *out, size_t room);

/* The CPUs that are online, ascending. *cpus is the caller's to free. 0 or a
 * negative errno. */
int ppi_perf_proc_cpus(const struct perf_kernel *kernel, int **cpus,
                       size_t *count);

/* Whether a list such as "0,2-3" has that CPU. */
bool ppi_perf_proc_has_cpu(const char *list, int cpu);

/* Keep of `cpus` those in a list such as "0,2-3"; false, and nothing is
 * changed, unless all of the list are there. */
bool ppi_perf_proc_pick_cpus(const char *list, int *cpus, size_t *count);

/* All processes, ascending; same rules. */
int ppi_perf_proc_processes(const struct perf_kernel *kernel, int64_t **pids,
                            size_t *count);

/* The threads of a process, ascending; same rules, and -ESRCH where there is no
 * such process, -ENOSYS where there is no /proc. pid 0 = this process. */
int ppi_perf_proc_threads(const struct perf_kernel *kernel, int64_t pid,
                          int64_t **tids, size_t *count);

/* Processes and all that descend from them now, by id, but for this process and
 * its own descendants unless it is a root; `pids` is to be freed. Those that
 * have ended are left out. -errno. */
int ppi_perf_proc_family(const struct perf_kernel *kernel, const int64_t *roots,
                         size_t root_count, int64_t **pids, size_t *count);

/* Descriptors that this process may still open. */
uint64_t ppi_perf_proc_free_fds(const struct perf_kernel *kernel,
                                uint64_t *limit);

/* A thread's name; false when it is gone. */
bool ppi_perf_proc_thread_name(const struct perf_kernel *kernel, int64_t pid,
                               int64_t tid, char *out, size_t room);

/* CPU time of a thread of another process, in ns. */
bool ppi_perf_proc_thread_time(const struct perf_kernel *kernel, int64_t pid,
                               int64_t tid, uint64_t *ns);

/* One executable mapping of a process. */
struct perf_mapping {
	uint64_t start, end, file_offset;
	struct perf_file_key file;
	char path[PERF_PATH_ROOM]; /* "" when there is none */
};

/* Call back for each executable mapping of a process. Text that was moved to other
 * memory is of the file that it came from. */
typedef void (*perf_mapping_fn)(void *context,
                                const struct perf_mapping *mapping);
void ppi_perf_proc_mappings(const struct perf_kernel *kernel, int64_t pid,
                            perf_mapping_fn take, void *context);

/* The one at an address, to be freed; its offset is the address's. NULL: there is
 * none now. */
struct perf_mapping *ppi_perf_proc_mapping_at(const struct perf_kernel *kernel,
                                              int64_t pid, uint64_t address);

/* ---- tracefs ---- */

/* Where tracepoints are: a folder with a file "available_events" and a folder
 * "events"; NULL when it cannot be read, for the reason in *error. */
const char *ppi_perf_tracepoint_folder(const struct perf_kernel *kernel,
                                       int *error);

/*
 * What to type. Files of tracefs are closed to others whatever its mode is
 * (TRACE_MODE_READ in kernel/trace/trace.h of Linux), so that a group is needed;
 * the shell finds the user's own before sudo runs.
 */
#define PERF_TRACEFS_MOUNT "sudo mount -t tracefs tracefs /sys/kernel/tracing"
#define PERF_TRACEFS_SHOW \
	"sudo mount -o remount,mode=755,gid=$(id -g) /sys/kernel/tracing"

#endif
