/* SPDX-License-Identifier: MIT */
/* Whom to attach to: processes by number or by name, or what runs in a unit of
 * systemd or in a container. */
#ifndef PPI_TARGETS_H
#define PPI_TARGETS_H

#include <portprof.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/watch.h"

struct ppi_targets {
	/* As typed; at most one is not NULL. */
	const char *pids;      /* "4711" or "4711,4712" */
	const char *name;      /* what a process is called, or its program */
	const char *unit;      /* of systemd */
	const char *container; /* an id, the beginning of one, or a name */

	/* Who that is. */
	struct ppi_watch *processes;
	size_t count;
	size_t gone;           /* processes that ended before they were found */
	char *cgroup;          /* the folder to measure by; NULL: by process */
	char words[128];       /* the target as a message names it */
};

bool ppi_targets_are_given(const struct ppi_targets *targets);

/* Whether `pids` is a list of numbers of processes. */
bool ppi_targets_is_list(const char *pids);

/* Look them up. False with words when there is none, or not all of a list. */
bool ppi_targets_find(struct ppi_targets *targets);

/* Make them the target of a config. */
portprof_status ppi_targets_set(const struct ppi_targets *targets,
                                portprof_config *config);

/* Measure by process what was to be measured by cgroup; false when that was
 * so already, or no process is known. */
bool ppi_targets_leave_cgroup(struct ppi_targets *targets);

/* All have ended, or the cgroup is empty. */
bool ppi_targets_have_ended(const struct ppi_targets *targets);

/* More than one thing, for the verb behind `words`. */
bool ppi_targets_are_several(const struct ppi_targets *targets);

void ppi_targets_free(struct ppi_targets *targets);

/* ---- targets_name.c ---- */

/* The processes of that name, but for this one; words when there is none. */
bool ppi_targets_find_name(struct ppi_targets *targets);

/* Add a process; false when out of memory. One that has ended is counted. */
bool ppi_targets_add(struct ppi_targets *targets, int64_t pid);

/* ---- targets_cgroup.c ---- */

/* Processes in a cgroup and those inside it. */
bool ppi_targets_read_cgroup(struct ppi_targets *targets, const char *folder);

#endif
