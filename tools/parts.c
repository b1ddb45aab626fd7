/* SPDX-License-Identifier: MIT */
/* Profiles that consist of several files, one for each process. */
#include "config.h"

#include "tools/parts.h"

#include "tools/progress.h"
#include "tools/tools.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char suffix[] = ".pb.gz";

/* A part, or a draft of one, which has something behind the suffix. */
static int is_part(const struct dirent *entry)
{
	return strncmp(entry->d_name, "part-", 5) == 0 &&
	       strstr(entry->d_name, suffix);
}

/* A draft holds nothing that its part does not, once there is one. */
static bool is_useless(const char *path)
{
	const char *end = strstr(strrchr(path, '/'), suffix) + strlen(suffix);
	char *part;
	bool is_there;

	if (*end == '\0')
		return false;
	part = strndup(path, (size_t)(end - path));
	is_there = !part || access(part, F_OK) == 0;
	free(part);
	return is_there;
}

static char *join(const char *folder, const char *name)
{
	size_t bytes = strlen(folder) + strlen(name) + 2;
	char *path = malloc(bytes);

	if (path)
		snprintf(path, bytes, "%s/%s", folder, name);
	return path;
}

/* Add one part to *all; the first becomes it. */
static void read_part(const char *path, portprof_profile **all,
                      struct ppi_parts *parts)
{
	portprof_profile *part;

	if (is_useless(path))
		return;
	if (portprof_profile_read(path, 0, &part)) {
		ppi_say_failure("a part is left out");
		parts->unread++;
		return;
	}
	if (portprof_profile_origin_get(part)->damage)
		parts->damaged++;
	if (!*all) {
		*all = part;
		parts->count++;
		return;
	}
	if (portprof_profile_merge(*all, part)) {
		ppi_say_failure("a part is left out");
		parts->unread++;
	} else {
		parts->count++;
	}
	portprof_profile_free(part);
}

portprof_profile *ppi_parts_read(const char *folder, struct ppi_parts *parts)
{
	portprof_profile *all = NULL;
	struct dirent **entries;
	int count = scandir(folder, &entries, is_part, alphasort);

	memset(parts, 0, sizeof(*parts));
	ppi_progress_begin("putting parts together");
	for (int i = 0; i < count; i++) {
		char *path = join(folder, entries[i]->d_name);

		if (path)
			read_part(path, &all, parts);
		free(path);
		free(entries[i]);
		ppi_progress_step((uint64_t)i + 1, (uint64_t)count, "parts");
	}
	ppi_progress_end();
	if (count >= 0)
		free(entries);
	return all;
}
