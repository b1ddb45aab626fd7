/* SPDX-License-Identifier: MIT */
/* What a verb reads: the profile that was named, and one of its events. */
#include "config.h"

#include "tools/input.h"

#include <portprof.h>
#include <portprof/tool.h>

#include "base/foreign_file.h"
#include "base/text.h"
#include "tools/launch.h"
#include "tools/options.h"
#include "tools/ticker.h"
#include "tools/tools.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a profile of several files, one for each process ---- */

struct ppi_parts {
	size_t count;     /* that could be read */
	size_t unread;    /* that could not */
	size_t damaged;   /* of processes that were killed */
};

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

/*
 * Read all parts in a folder, oldest process first, into one profile. NULL
 * when there is none that can be read; `parts` has what was found. A word
 * is said about each part that is left out.
 */
static portprof_profile *read_parts(const char *folder, struct ppi_parts *parts)
{
	portprof_profile *all = NULL;
	struct dirent **entries;
	int count = scandir(folder, &entries, is_part, alphasort);

	memset(parts, 0, sizeof(*parts));
	if (count > 0)
		atomic_store(&ppi_ticker_all, (uint64_t)count);
	for (int i = 0; i < count; i++) {
		char *path = join(folder, entries[i]->d_name);

		if (path)
			read_part(path, &all, parts);
		free(path);
		free(entries[i]);
		atomic_store(&ppi_ticker_done, (uint64_t)i + 1);
	}
	if (count >= 0)
		free(entries);
	return all;
}

/* ---- inputs that are no files yet ---- */

/* Readable and writable, closed on exec; -1 after saying why. */
static int open_nameless(void)
{
	const char *folder = getenv("TMPDIR");
	char path[4096];
	int fd;

	if (!folder || !folder[0])
		folder = "/tmp";
	snprintf(path, sizeof(path), "%s/portprof-XXXXXX", folder);
	fd = mkstemp(path);
	if (fd < 0) {
		ppi_say("cannot create a temporary file in %s: %s; set TMPDIR "
		        "to a writable directory",
		        folder, strerror(errno));
		return -1;
	}
	unlink(path);
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	return fd;
}

static bool copy(int from, int to)
{
	static char bytes[1 << 16];
	uint64_t all = 0;
	ssize_t got, done, put;

	for (;;) {
		got = read(from, bytes, sizeof(bytes));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got == 0;
		for (done = 0; done < got; done += put) {
			put = write(to, bytes + done, (size_t)(got - done));
			if (put < 0 && errno != EINTR)
				return false;
			if (put < 0)
				put = 0;
		}
		all += (uint64_t)got;
		atomic_store(&ppi_ticker_done, all >> 20);
	}
}

/* What is read from a descriptor is the same file from then on. */
static bool keep(int descriptor, const char *path)
{
	int file = open_nameless();
	bool is_good, ticks;

	if (file < 0)
		return false;
	ticks = ppi_ticker_begin("reading", "MiB");
	is_good = copy(descriptor, file);
	ppi_ticker_end(ticks);
	if (!is_good)
		ppi_say("cannot copy '%s' to a temporary file: %s; set TMPDIR "
		        "to a directory with room",
		        path, strerror(errno));
	else
		is_good = dup2(file, descriptor) >= 0;
	close(file);
	return is_good;
}

bool ppi_input_is_stream(const char *path)
{
	return strcmp(path, "-") == 0 || ppi_descriptor_named(path) >= 0;
}

const char *ppi_input_name(const char *path)
{
	const char *name = strcmp(path, "-") == 0 ? "/dev/stdin" : path;
	int descriptor = ppi_descriptor_named(name);
	struct stat at;

	if (descriptor < 0)
		return name;
	if (fstat(descriptor, &at) != 0) {
		ppi_say("cannot read '%s': %s", path, strerror(errno));
		return NULL;
	}
	if (isatty(descriptor)) {
		ppi_say("'%s' is a terminal: name a profile, or pipe one in",
		        path);
		return NULL;
	}
	if ((S_ISFIFO(at.st_mode) || S_ISSOCK(at.st_mode)) &&
	    !keep(descriptor, path))
		return NULL;
	return name;
}

/* ---- what perf prints of its own ---- */

/* No shell: paths are of others. The file may be of another user, as those are
 * that root recorded; inlined functions cost a process for each file. */
static void become_perf(const char *perf, const char *path, int out)
{
	int nothing = open("/dev/null", O_RDWR);
	char name[32];

	if (ppi_descriptor_named(path) == STDIN_FILENO) {
		snprintf(name, sizeof(name), "/dev/fd/%d", dup(STDIN_FILENO));
		path = name;
	}
	dup2(nothing, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(nothing, STDERR_FILENO);
	setenv("LC_ALL", "C", 1);
	execl(perf, "perf", "script", "--force", "--no-inline", "-F", "+pid",
	      "-i", path, (char *)NULL);
	_exit(127);
}

/*
 * A descriptor of what perf script prints of a perf.data, in a file without a
 * name; -1 after saying why not.
 */
static int run_perf_script(const char *path)
{
	char *perf = ppi_search_program("perf");
	int out = -1, status = -1;
	pid_t child;

	if (!perf) {
		ppi_say("'%s' was written by perf record, and perf is not "
		        "installed here to read it; where it is: perf script "
		        "-i %s | portprof report -",
		        path, path);
		return -1;
	}
	out = open_nameless();
	child = out < 0 ? -1 : fork();
	if (child == 0)
		become_perf(perf, path, out);
	free(perf);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (out >= 0 && status == 0)
		return out;
	if (out >= 0) {
		ppi_say("'%s' was written by perf record, and perf cannot read "
		        "it; for the reason: perf script -i %s",
		        path, path);
		close(out);
	}
	return -1;
}

/* ---- opening ---- */

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
	return begin[strspn(begin, " \t\r\n")] == '{' &&
	       strstr(begin, PPI_REGIONS_TYPE);
}

static portprof_profile *open_parts(const char *folder)
{
	struct ppi_parts parts;
	portprof_profile *profile = read_parts(folder, &parts);

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
				? ", and portprof report alone "
				  "shows " PPI_DEFAULT_OUTPUT
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
	int text = run_perf_script(path);
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

static portprof_profile *open_any(const char *path, const char *program,
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

portprof_profile *ppi_profile_open(const char *path, const char *program,
                                   uint64_t memory_max)
{
	struct stat at = { 0 };
	bool is_folder = stat(path, &at) == 0 && S_ISDIR(at.st_mode);
	bool ticks = is_folder
	                     ? ppi_ticker_begin("putting parts together", "parts")
	                     : ppi_ticker_begin("reading", "MiB");
	portprof_profile *profile = NULL;

	if (ticks && !is_folder)
		atomic_store(&ppi_ticker_done, (uint64_t)at.st_size >> 20);
	path = ppi_input_name(path);
	if (path)
		profile = open_any(path, program, memory_max);
	ppi_ticker_end(ticks);
	return profile;
}

/* ---- one of its events ---- */

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
