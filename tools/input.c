/* SPDX-License-Identifier: MIT */
/* What a verb reads: the profile that was named, and one of its events. */
#include "config.h"

#include "tools/input.h"

#include "base/foreign_file.h"
#include "tools/input_stream.h"
#include "tools/memory.h"
#include "tools/parts.h"
#include "tools/tools.h"

#include <portprof/tool.h>

#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool ppi_input_is_regions(const char *path)
{
	struct stat at;
	int fd = ppi_foreign_open(path, PPI_FOREIGN_FILE, &at);
	FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
	char begin[128] = "";

	if (!file)
		return false;
	begin[fread(begin, 1, sizeof(begin) - 1, file)] = '\0';
	fclose(file);
	return begin[strspn(begin, " \t\r\n")] == '{' && strstr(begin, PPI_REGIONS_TYPE);
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
	if (path[0] == '\0')
		ppi_say("the name of the profile is empty; portprof report "
		        "alone shows " PPI_DEFAULT_OUTPUT);
	else if (strcmp(path, PPI_DEFAULT_OUTPUT) == 0)
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

/* What other tools wrote is known by its first line or words. */
static portprof_profile *open_import(const char *path, uint64_t memory_max)
{
	portprof_profile *profile;

	if (portprof_import_read(path, memory_max, &profile) == PORTPROF_OK)
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

static portprof_profile *open_perf(const char *path, uint64_t memory_max)
{
	int text = ppi_input_of_perf(path);
	portprof_profile *profile = NULL;
	char name[32];

	if (text < 0)
		return NULL;
	snprintf(name, sizeof(name), "/dev/fd/%d", text);
	profile = open_import(name, memory_max);
	close(text);
	return profile;
}

static void say_why(const char *path)
{
	if (ppi_input_is_regions(path)) {
		ppi_say("'%s' is a table of regions, not a profile: portprof "
		        "merge %s prints it",
		        path, path);
	} else if (portprof_last_diag()->status != PORTPROF_E_NOTFOUND) {
		ppi_say_failure(NULL);
		ppi_memory_say_remedy();
	} else if (!say_leftovers(path)) {
		say_missing(path);
	}
}

portprof_profile *ppi_profile_open(const char *path, const char *program,
                                   uint64_t memory_max)
{
	struct stat at;
	portprof_profile *profile;

	path = ppi_input_name(path);
	if (!path)
		return NULL;
	if (portprof_gmon_is(path))
		return open_gmon(path, program, memory_max);
	if (program) {
		ppi_say("'%s' names its programs itself: --program is for a "
		        "gmon.out",
		        path);
		return NULL;
	}
	if (is_of_perf(path))
		return open_perf(path, memory_max);
	if (portprof_import_is(path))
		return open_import(path, memory_max);
	if (stat(path, &at) == 0 && S_ISDIR(at.st_mode))
		return open_parts(path);
	if (stat(path, &at) == 0 && S_ISREG(at.st_mode) && at.st_size == 0) {
		ppi_say("'%s' is empty, so it is not a profile; make one: "
		        "portprof record -o FILE -- COMMAND", path);
		return NULL;
	}
	if (portprof_profile_read(path, memory_max, &profile) == PORTPROF_OK)
		return profile;
	say_why(path);
	return NULL;
}

/* "task-clock" of "task-clock:freq=100". */
static bool is_same_but_for_modifiers(const char *left, const char *right)
{
	size_t length = strcspn(left, ":");

	return strcspn(right, ":") == length &&
	       strncmp(left, right, length) == 0;
}

static size_t find_event(const portprof_profile *profile, const char *name)
{
	const portprof_profile_event *event;
	size_t like = SIZE_MAX;

	for (size_t i = 0;
	     (event = portprof_profile_event_get(profile, i)) != NULL; i++) {
		if (!name || strcmp(event->name, name) == 0 ||
		    strcmp(event->asked, name) == 0)
			return i;
		if (like == SIZE_MAX &&
		    is_same_but_for_modifiers(event->name, name))
			like = i;
	}
	return like;
}

size_t ppi_event_choose(const portprof_profile *profile, const char *path,
                        const char *name)
{
	const portprof_profile_event *event;
	size_t found = find_event(profile, name);

	if (found != SIZE_MAX)
		return found;
	if (portprof_profile_event_count(profile) == 0) {
		ppi_say("%s holds no event", path);
		return SIZE_MAX;
	}
	ppi_say("%s has no event '%s'; it has:", path, name);
	for (size_t i = 0;
	     (event = portprof_profile_event_get(profile, i)) != NULL; i++) {
		fputs("  ", stderr);
		ppi_put_text(event->name, stderr);
		fputc('\n', stderr);
	}
	return SIZE_MAX;
}
