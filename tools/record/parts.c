/* SPDX-License-Identifier: MIT */
/* Profiles that consist of several files, one for each process. */
#include "config.h"

#include "tools/record/parts.h"

#include "port/foreign_file.h"
#include "tools/memory.h"
#include "tools/progress.h"
#include "tools/tools.h"

#include <dirent.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

static portprof_profile *open_parts(const char *folder)
{
	struct ppi_parts parts;
	portprof_profile *profile = ppi_parts_read(folder, &parts);

	if (!profile)
		ppi_say("'%s' is a folder without parts of a profile", folder);
	return profile;
}

/* What a recorder that was killed early leaves where it was to write. */
static bool say_leftovers(const char *path)
{
	size_t bytes = strlen(path) + sizeof(".*.part");
	char *pattern = malloc(bytes);
	bool is_found = false;
	glob_t found;

	if (!pattern)
		return false;
	snprintf(pattern, bytes, "%s.*.part", path);
	if (glob(pattern, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			ppi_say("a recording that was cut short left a draft: "
			        "portprof report -i %s", found.gl_pathv[i]);
		is_found = true;
		globfree(&found);
	}
	free(pattern);
	return is_found;
}

static void say_missing(const char *path)
{
	if (strcmp(path, PPI_DEFAULT_OUTPUT) == 0)
		ppi_say("there is no " PPI_DEFAULT_OUTPUT " here; make one: "
		        "portprof record -- COMMAND, or name another: portprof "
		        "report FILE");
	else
		ppi_say("there is no file '%s'; portprof record -o %s -- "
		        "COMMAND would make it%s",
		        path, path,
		        access(PPI_DEFAULT_OUTPUT, R_OK) == 0
		        ? ", and portprof report alone shows " PPI_DEFAULT_OUTPUT
		        : "");
}

/* gprof takes a.out, too, when no program is named. */
static portprof_profile *open_gmon(const char *path, const char *program,
                                   uint64_t memory_max)
{
	portprof_profile *profile;

	if (!program && access("a.out", F_OK) != 0) {
		ppi_say("'%s' does not name its program, and there is no "
		        "a.out here: name it with --program",
		        path);
		return NULL;
	}
	if (portprof_gmon_read(path, program ? program : "a.out", memory_max,
			       &profile) == PORTPROF_OK)
		return profile;
	ppi_say_failure(NULL);
	ppi_memory_say_remedy();
	return NULL;
}

/* What perf record writes begins with these letters (perf.data's magic, in
 * tools/perf/util/header.c of Linux). */
static bool is_of_perf(const char *path)
{
	static const char magic[] = "PERFILE2";
	char begin[sizeof(magic)] = "";
	FILE *file = ppi_foreign_stream(path, PPI_FOREIGN_FILE);

	if (!file)
		return false;
	if (fread(begin, 1, strlen(magic), file) != strlen(magic))
		begin[0] = '\0';
	fclose(file);
	return strcmp(begin, magic) == 0;
}

portprof_profile *ppi_profile_open(const char *path, const char *program,
                                   uint64_t memory_max)
{
	struct stat at;
	portprof_profile *profile;

	if (portprof_gmon_is(path))
		return open_gmon(path, program, memory_max);
	if (program) {
		ppi_say("'%s' names its programs itself: --program is for a "
		        "gmon.out",
		        path);
		return NULL;
	}
	if (stat(path, &at) == 0 && S_ISDIR(at.st_mode))
		return open_parts(path);
	if (portprof_profile_read(path, memory_max, &profile) == PORTPROF_OK)
		return profile;
	if (is_of_perf(path))
		ppi_say("'%s' was written by perf record: perf report shows "
		        "it; portprof record makes profiles for portprof "
		        "report", path);
	else if (portprof_last_diag()->status != PORTPROF_E_NOTFOUND) {
		ppi_say_failure(NULL);
		ppi_memory_say_remedy();
	} else if (!say_leftovers(path))
		say_missing(path);
	return NULL;
}
