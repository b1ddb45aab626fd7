/* SPDX-License-Identifier: MIT */
/* Profiles that consist of several files, one for each process. */
#include "config.h"

#include "tools/parts.h"

#include "tools/tools.h"

#include <dirent.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a whole part is called; a draft of one ends otherwise. */
static int is_part(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > 6 && strncmp(entry->d_name, "part-", 5) == 0 &&
	       strcmp(entry->d_name + length - 6, ".pb.gz") == 0;
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

	if (portprof_profile_read(path, &part)) {
		ppi_say_failure("a part is left out");
		parts->unread++;
		return;
	}
	if (portprof_profile_damage(part))
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
	for (int i = 0; i < count; i++) {
		char *path = join(folder, entries[i]->d_name);

		if (path)
			read_part(path, &all, parts);
		free(path);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return all;
}

static int is_entry(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 &&
	       strcmp(entry->d_name, "..") != 0;
}

void ppi_parts_remove(const char *folder)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, is_entry, NULL);

	for (int i = 0; i < count; i++) {
		char *path = join(folder, entries[i]->d_name);

		if (path)
			unlink(path);
		free(path);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	rmdir(folder);
}

static portprof_profile *open_parts(const char *folder)
{
	struct ppi_parts parts;
	portprof_profile *profile = ppi_parts_read(folder, &parts);

	if (!profile)
		ppi_say("'%s' is a folder without parts of a profile", folder);
	return profile;
}

/* A recorder that was killed left its parts where it was to write. */
static bool say_parts_of(const char *path)
{
	size_t bytes = strlen(path) + sizeof(".parts-*");
	char *pattern = malloc(bytes);
	bool is_found = false;
	glob_t found;

	if (!pattern)
		return false;
	snprintf(pattern, bytes, "%s.parts-*", path);
	if (glob(pattern, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			ppi_say("a recording that was cut short left its "
			        "parts: portprof report -i %s",
			        found.gl_pathv[i]);
		is_found = true;
		globfree(&found);
	}
	free(pattern);
	return is_found;
}

portprof_profile *ppi_profile_open(const char *path)
{
	struct stat at;
	portprof_profile *profile;

	if (stat(path, &at) == 0 && S_ISDIR(at.st_mode))
		return open_parts(path);
	if (portprof_profile_read(path, &profile) == PORTPROF_OK)
		return profile;
	ppi_say_failure(NULL);
	if (portprof_last_diag()->status == PORTPROF_E_NOTFOUND &&
	    !say_parts_of(path))
		fprintf(stderr, "Make a profile first: portprof record -- "
		                "COMMAND, or name one with -i.\n");
	return NULL;
}
