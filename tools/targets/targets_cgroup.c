/* SPDX-License-Identifier: MIT */
/* The processes in a control group and in those inside it. */
#include "config.h"

#include "tools/targets/targets.h"

#include "tools/targets/cgroup_find.h"
#include "tools/tools.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

bool ppi_targets_read_cgroup(struct ppi_targets *targets, const char *folder)
{
	return read_group(targets, folder, 0);
}
