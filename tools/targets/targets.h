/* SPDX-License-Identifier: MIT */
/* Targets: a command, processes by number or by name, a systemd unit, a
 * container or a cgroup, a thread, or CPUs. */
#ifndef PPI_TARGETS_H
#define PPI_TARGETS_H

#include <portprof.h>

#include "tools/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- * Processes by name: what /proc/PID/comm says, or the path of the program they run. The kernel cuts the former to 15 bytes (prctl(2), PR_SET_NAME), so of a longer name the program's own has to agree as well ---- */

struct ppi_watch {
	int64_t id;
	bool is_thread;
	uint64_t began; /* when it did: tells it from a later one of its id */
};

/* Begin to watch. False when there is none, or it has ended and its parent
 * has not asked for its status yet, or /proc does not show it: with words. */
bool ppi_watch_begin(struct ppi_watch *watch, int64_t id, bool is_thread);

/* The same without words, for a process. */
bool ppi_watch_try(struct ppi_watch *watch, int64_t pid);

bool ppi_watch_has_ended(const struct ppi_watch *watch);

/* The name of a process or thread, in `name`; "" when it has none. */
const char *ppi_watch_name(const struct ppi_watch *watch, char name[64]);

/* ---- targets ---- */

enum ppi_scope {
	PPI_SCOPE_COMMAND, /* a command that is started for it */
	PPI_SCOPE_PROCESS, /* -p, --name, --unit, --container */
	PPI_SCOPE_THREAD,  /* -t */
	PPI_SCOPE_SYSTEM   /* -a, -C, -G */
};

struct ppi_targets {
	/* As typed; those of one scope at most are given. */
	const char *pids;      /* "4711" or "4711,4712" */
	const char *name;      /* what a process is called, or its program */
	const char *unit;      /* of systemd */
	const char *container; /* an id, the beginning of one, or a name */
	int64_t thread;        /* 0: none */
	bool is_system;
	const char *cpus;      /* NULL: all */
	const char *cgroup_name; /* NULL: of any */
	enum ppi_scope scope;

	/* Who that is. */
	struct ppi_watch *processes;
	size_t count;
	size_t gone;           /* processes that ended before they were found */
	char *cgroup;          /* the folder to measure by; NULL: by process, */
	char *no_cgroup;       /* and why, where a cgroup was asked for */
	char words[128];       /* the target as a message names it */
};

/* The rows of a verb's table that say whom to measure; `at` is the place of its
 * struct ppi_targets. */
#define PPI_TARGET_OPTIONS(at) \
	{ 'p', "pid", "PID", "measure running processes: PID or PID,PID,...", \
	  .take = ppi_take_pids, .place = PPI_TARGET_PLACE(at, pids) }, \
	{ 0, "name", "NAME", \
	  "measure all processes of this name or program path", \
	  .take = ppi_take_target, .place = PPI_TARGET_PLACE(at, name) }, \
	{ 0, "unit", "UNIT", "measure a systemd unit", \
	  .take = ppi_take_target, .place = PPI_TARGET_PLACE(at, unit) }, \
	{ 0, "container", "ID", "measure a container", \
	  .take = ppi_take_target, .place = PPI_TARGET_PLACE(at, container) }, \
	{ 't', "tid", "TID", "measure a thread", \
	  .take = ppi_take_number, .place = PPI_TARGET_PLACE(at, thread), \
	  .least = 1, .most = INT32_MAX, .what = "the number of a thread" }, \
	{ 'a', "all-cpus", NULL, "measure the whole system", \
	  .take = ppi_take_flag, .place = PPI_TARGET_PLACE(at, is_system) }, \
	{ 'C', "cpu", "LIST", \
	  "measure what runs on these CPUs, such as 0,2-3", \
	  .take = ppi_take_text, .place = PPI_TARGET_PLACE(at, cpus) }, \
	{ 'G', "cgroup", "NAME", "measure what runs in this cgroup", \
	  .take = ppi_take_text, .place = PPI_TARGET_PLACE(at, cgroup_name) }
#define PPI_TARGET_PLACE(at, member) \
	((at) + offsetof(struct ppi_targets, member))

int ppi_take_target(const struct ppi_given *given, void *text);
int ppi_take_pids(const struct ppi_given *given, void *text);

/* Fill in the scope once all options are read: PPI_LINE_READ, or the exit
 * status after words when they exclude each other. */
int ppi_targets_choose(struct ppi_targets *targets,
                       const struct ppi_line *line);

/* Look processes up. False with words when there is none, or not all of a
 * list. */
bool ppi_targets_find(struct ppi_targets *targets);

/* Make them the target of a config; `child` is the command's process. */
portprof_status ppi_targets_set(const struct ppi_targets *targets,
                                int64_t child, portprof_config *config);

/* Measure by process what was to be measured by cgroup; false when that was
 * so already, or no process is known. */
bool ppi_targets_leave_cgroup(struct ppi_targets *targets);

/* That processes are measured in the place of a cgroup; nothing where it is not
 * so. */
void ppi_targets_say_no_cgroup(const struct ppi_targets *targets);

/* All have ended, or the cgroup is empty. */
bool ppi_targets_have_ended(const struct ppi_targets *targets);

/* More than one thing, for the verb behind `words`. */
bool ppi_targets_are_several(const struct ppi_targets *targets);

void ppi_targets_free(struct ppi_targets *targets);

/* ---- finding processes ---- */

/* The processes of that name, but for this one; words when there is none. */
bool ppi_targets_find_name(struct ppi_targets *targets);

/* Add a process; false when out of memory. One that has ended is counted. */
bool ppi_targets_add(struct ppi_targets *targets, int64_t pid);

#endif
