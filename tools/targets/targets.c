/* SPDX-License-Identifier: MIT */
/*
 * Whom to measure, from the words on the command line to a config.
 *
 *   targets_processes.c  processes by name, and watching one until it ends
 *   cgroup_find.c        the control group of a unit or a container
 */
#include "config.h"

#include "tools/targets/targets.h"

#include "tools/targets/cgroup_find.h"
#include "tools/tools.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- processes of a control group ---- */

enum { DEPTH_MAX = 24 };

/* A process of another PID namespace is "0" here: cgroups(7). */
static bool add_processes(struct ppi_targets *targets, const char *folder)
{
	char path[PPI_CGROUP_PATH + 16], line[32];
	bool is_good = true;
	FILE *file;

	snprintf(path, sizeof(path), "%s/cgroup.procs", folder);
	file = fopen(path, "re");
	while (file && is_good && fgets(line, sizeof(line), file)) {
		uint64_t pid;

		line[strcspn(line, "\n")] = '\0';
		if (ppi_read_number(line, 1, INT32_MAX, &pid) &&
		    pid != (uint64_t)getpid())
			is_good = ppi_targets_add(targets, (int64_t)pid);
	}
	if (file)
		fclose(file);
	return is_good;
}

static bool read_group(struct ppi_targets *targets, const char *folder,
                       unsigned depth)
{
	DIR *list = depth < DEPTH_MAX ? opendir(folder) : NULL;
	bool is_good = add_processes(targets, folder);
	struct dirent *entry;

	while (list && is_good && (entry = readdir(list)) != NULL) {
		char path[PPI_CGROUP_PATH];
		struct stat at;

		if (entry->d_name[0] != '.' &&
		    snprintf(path, sizeof(path), "%s/%s", folder,
		             entry->d_name) < (int)sizeof(path) &&
		    lstat(path, &at) == 0 && S_ISDIR(at.st_mode))
			is_good = read_group(targets, path, depth + 1);
	}
	if (list)
		closedir(list);
	return is_good;
}

/* Processes in a cgroup and those inside it. */
static bool read_cgroup(struct ppi_targets *targets, const char *folder)
{
	return read_group(targets, folder, 0);
}

/* ---- the command line ---- */

/* One number at *list, which is behind its comma then; 0 when it is none. */
static int64_t next_pid(const char **list)
{
	size_t length = strcspn(*list, ",");
	uint64_t number = 0;
	char text[24];

	if (length >= sizeof(text))
		return 0;
	memcpy(text, *list, length);
	text[length] = '\0';
	if (!ppi_read_number(text, 1, INT32_MAX, &number))
		return 0;
	*list += length + ((*list)[length] == ',' && (*list)[length + 1]);
	return (int64_t)number;
}

static bool is_list(const char *pids)
{
	do {
		if (!next_pid(&pids))
			return false;
	} while (*pids && *pids != ',');
	return *pids == '\0';
}

int ppi_take_target(const struct ppi_given *given, void *text)
{
	const char **target = text;

	if (*target)
		return ppi_line_wrong(given->line,
		                      "one target at a time: a second one was "
		                      "given by %s %s",
		                      given->name, given->value);
	*target = given->value;
	return PPI_EXIT_OK;
}

int ppi_take_pids(const struct ppi_given *given, void *text)
{
	if (!is_list(given->value))
		return ppi_given_refuse(given, "the number of a process");
	return ppi_take_target(given, text);
}

int ppi_targets_choose(struct ppi_targets *targets,
                       const struct ppi_line *line)
{
	bool is_system = targets->is_system || targets->cpus ||
	                 targets->cgroup_name;
	int processes = (targets->pids != NULL) + (targets->name != NULL) +
	                (targets->unit != NULL) + (targets->container != NULL);

	if (processes + (targets->thread != 0) + is_system > 1)
		return ppi_line_wrong(line,
		                      "one target at a time: -p, --name, "
		                      "--unit, --container, -t and -a (-C, -G) "
		                      "exclude each other");
	targets->scope = processes         ? PPI_SCOPE_PROCESS
	                 : targets->thread ? PPI_SCOPE_THREAD
	                 : is_system       ? PPI_SCOPE_SYSTEM
	                                   : PPI_SCOPE_COMMAND;
	return PPI_LINE_READ;
}

/* ---- finding them ---- */

bool ppi_targets_add(struct ppi_targets *targets, int64_t pid)
{
	struct ppi_watch *more;

	for (size_t i = 0; i < targets->count; i++)
		if (targets->processes[i].id == pid)
			return true;
	more = realloc(targets->processes,
	               (targets->count + 1) * sizeof(*more));
	if (!more)
		return false;
	targets->processes = more;
	if (ppi_watch_try(&more[targets->count], pid))
		targets->count++;
	else
		targets->gone++;
	return true;
}

/* Those of a list are all wanted. */
static bool find_list(struct ppi_targets *targets)
{
	const char *at = targets->pids;

	while (*at) {
		int64_t pid = next_pid(&at);
		struct ppi_watch watch;

		if (!ppi_watch_begin(&watch, pid, false))
			return false;
		if (!ppi_targets_add(targets, pid)) {
			ppi_say("out of memory");
			return false;
		}
	}
	return true;
}

static void name_them(struct ppi_targets *targets)
{
	char name[64] = "";

	if (targets->count)
		ppi_watch_name(&targets->processes[0], name);
	if (targets->unit || targets->container)
		snprintf(targets->words, sizeof(targets->words), "%s %.100s",
		         targets->unit ? "unit" : "container",
		         targets->unit ? targets->unit : targets->container);
	else if (targets->count == 1)
		snprintf(targets->words, sizeof(targets->words),
		         "process %lld (%s)",
		         (long long)targets->processes[0].id, name);
	else if (targets->name)
		snprintf(targets->words, sizeof(targets->words),
		         "%zu processes (%.90s)", targets->count,
		         targets->name);
	else
		snprintf(targets->words, sizeof(targets->words),
		         "%zu processes", targets->count);
}

/* Measured by the cgroup where the kernel knows it as one; else its processes
 * and what descends from them. */
static bool find_cgroup(struct ppi_targets *targets)
{
	struct ppi_cgroup_found found;
	enum ppi_cgroup_kind kind = targets->unit ? PPI_CGROUP_UNIT
	                                          : PPI_CGROUP_CONTAINER;
	const char *wanted = targets->unit ? targets->unit
	                                   : targets->container;

	if (!ppi_cgroup_find("", kind, wanted, &found)) {
		ppi_say("%s", found.words);
		return false;
	}
	if (!read_cgroup(targets, found.folder)) {
		ppi_say("out of memory");
		return false;
	}
	if (found.is_for_perf)
		targets->cgroup = strdup(found.folder);
	else
		targets->no_cgroup = strdup(found.words);
	if (targets->cgroup || targets->count)
		return true;
	ppi_say("%s '%s' has no process", targets->unit ? "unit" : "container",
	        wanted);
	return false;
}

bool ppi_targets_find(struct ppi_targets *targets)
{
	bool is_found = targets->pids   ? find_list(targets)
	                : targets->name ? ppi_targets_find_name(targets)
	                                : find_cgroup(targets);

	if (is_found)
		name_them(targets);
	return is_found;
}

/* ---- in a config ---- */

static portprof_status set_processes(const struct ppi_targets *targets,
                                     portprof_config *config)
{
	portprof_target kind = PORTPROF_TARGET_PID;
	portprof_status status = PORTPROF_OK;

	if (targets->cgroup)
		return portprof_config_set_target_system(
			config, targets->cgroup, NULL);
	for (size_t i = 0; i < targets->count && status == PORTPROF_OK; i++) {
		status = portprof_config_set_target(config, kind,
		                                    targets->processes[i].id);
		kind = PORTPROF_TARGET_ALSO_PID;
	}
	return status;
}

portprof_status ppi_targets_set(const struct ppi_targets *targets,
                                int64_t child, portprof_config *config)
{
	switch (targets->scope) {
	case PPI_SCOPE_PROCESS:
		return set_processes(targets, config);
	case PPI_SCOPE_THREAD:
		return portprof_config_set_target(config, PORTPROF_TARGET_TID,
		                                  targets->thread);
	case PPI_SCOPE_SYSTEM:
		return portprof_config_set_target_system(
			config, targets->cgroup_name, targets->cpus);
	case PPI_SCOPE_COMMAND:
	default:
		return portprof_config_set_target(
			config, PORTPROF_TARGET_COMMAND, child);
	}
}

bool ppi_targets_leave_cgroup(struct ppi_targets *targets)
{
	if (!targets->cgroup || targets->count == 0)
		return false;
	free(targets->cgroup);
	targets->cgroup = NULL;
	targets->no_cgroup = strdup("its cgroup may not be measured by this "
	                            "user");
	return true;
}

void ppi_targets_say_no_cgroup(const struct ppi_targets *targets)
{
	if (targets->no_cgroup)
		ppi_say("%s: attached to the %zu process%s in it, and what %s: "
		        "%s", targets->words, targets->count,
		        targets->count == 1 ? "" : "es",
		        targets->count == 1 ? "it starts" : "they start",
		        targets->no_cgroup);
}

/* ---- their end ---- */

/* "populated 0" in version 2; version 1 tells by the folder alone. */
static bool is_cgroup_over(const char *folder)
{
	char path[PPI_CGROUP_PATH + 32], line[64];
	bool is_over = false;
	FILE *events;

	if (access(folder, F_OK) != 0)
		return errno == ENOENT;
	snprintf(path, sizeof(path), "%s/cgroup.events", folder);
	events = fopen(path, "re");
	if (!events)
		return false;
	while (fgets(line, sizeof(line), events))
		is_over |= strcmp(line, "populated 0\n") == 0;
	fclose(events);
	return is_over;
}

bool ppi_targets_have_ended(const struct ppi_targets *targets)
{
	if (targets->cgroup)
		return is_cgroup_over(targets->cgroup);
	for (size_t i = 0; i < targets->count; i++)
		if (!ppi_watch_has_ended(&targets->processes[i]))
			return false;
	return true;
}

bool ppi_targets_are_several(const struct ppi_targets *targets)
{
	return !targets->unit && !targets->container && targets->count > 1;
}

void ppi_targets_free(struct ppi_targets *targets)
{
	free(targets->processes);
	free(targets->cgroup);
	free(targets->no_cgroup);
	targets->processes = NULL;
	targets->cgroup = targets->no_cgroup = NULL;
	targets->count = 0;
}
