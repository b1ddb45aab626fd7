/* SPDX-License-Identifier: MIT */
/*
 * Processes by name: what /proc/PID/comm says, or the path of the program they
 * run. The kernel cuts the former to 15 bytes (prctl(2), PR_SET_NAME), so of a
 * longer name the program's own has to agree as well.
 */
#include "config.h"

#include "tools/targets/targets.h"

#include "tools/guess.h"
#include "tools/tools.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COMM_LENGTH = 15, PATH_ROOM = 4096, NAMES_MAX = 4096 };

/* A small file of a process, or "": how long it is. */
static size_t read_small(int64_t pid, const char *what, char *out, size_t room)
{
	char path[64];
	size_t got = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%lld/%s", (long long)pid, what);
	file = fopen(path, "re");
	if (file) {
		got = fread(out, 1, room - 1, file);
		fclose(file);
	}
	out[got] = '\0';
	return got;
}

static void read_program(int64_t pid, char out[PATH_ROOM])
{
	static const char deleted[] = " (deleted)";
	char path[64];
	ssize_t got;
	size_t end;

	snprintf(path, sizeof(path), "/proc/%lld/exe", (long long)pid);
	got = readlink(path, out, PATH_ROOM - 1);
	out[got < 0 ? 0 : got] = '\0';
	end = strlen(out);
	if (end > sizeof(deleted) &&
	    strcmp(out + end - (sizeof(deleted) - 1), deleted) == 0)
		out[end - (sizeof(deleted) - 1)] = '\0';
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* A path may also be the one that was executed: of a script, or through a
 * link. */
static bool has_path(int64_t pid, const char *wanted, const char *real)
{
	char path[PATH_ROOM];
	size_t got, first;

	read_program(pid, path);
	if (path[0] && strcmp(path, real) == 0)
		return true;
	got = read_small(pid, "cmdline", path, sizeof(path));
	first = strlen(path);
	return strcmp(path, wanted) == 0 ||
	       (first < got && strcmp(path + first + 1, wanted) == 0);
}

static bool has_name(int64_t pid, const char *wanted, const char *comm)
{
	char path[PATH_ROOM];

	if (strncmp(comm, wanted, COMM_LENGTH) != 0)
		return false;
	if (strlen(wanted) <= COMM_LENGTH)
		return strcmp(comm, wanted) == 0;
	read_program(pid, path);
	if (strcmp(last_part(path), wanted) == 0)
		return true;
	read_small(pid, "cmdline", path, sizeof(path));
	return strcmp(last_part(path), wanted) == 0;
}

/* Names that were seen, for one that is wrong. */
struct seen {
	char *names[NAMES_MAX];
	size_t count;
};

static void see(struct seen *seen, const char *name)
{
	for (size_t i = 0; i < seen->count; i++)
		if (strcmp(seen->names[i], name) == 0)
			return;
	if (seen->count < NAMES_MAX && name[0] &&
	    (seen->names[seen->count] = strdup(name)) != NULL)
		seen->count++;
}

static void say_none(const char *wanted, const struct seen *seen)
{
	struct ppi_guess guess = { .wanted = wanted };
	char words[256];

	for (size_t i = 0; i < seen->count; i++)
		ppi_guess_offer(&guess, seen->names[i]);
	ppi_guess_words(&guess, "", words, sizeof(words));
	ppi_say("no process has the name '%s'%s", wanted, words);
	ppi_say("ps -eo pid,comm lists names; a path such as /usr/sbin/nginx "
	        "is compared with the program's");
}

static bool look(struct ppi_targets *targets, const char *real,
                 struct seen *seen)
{
	const char *wanted = targets->name;
	DIR *folder = opendir("/proc");
	bool is_good = true;
	struct dirent *entry;

	while (folder && is_good && (entry = readdir(folder)) != NULL) {
		uint64_t pid;
		char comm[64];

		if (!ppi_read_number(entry->d_name, 1, INT32_MAX, &pid) ||
		    pid == (uint64_t)getpid())
			continue;
		read_small((int64_t)pid, "comm", comm, sizeof(comm));
		comm[strcspn(comm, "\n")] = '\0';
		see(seen, comm);
		if (strchr(wanted, '/') ? has_path((int64_t)pid, wanted, real)
		                        : has_name((int64_t)pid, wanted, comm))
			is_good = ppi_targets_add(targets, (int64_t)pid);
	}
	if (folder)
		closedir(folder);
	return is_good;
}

bool ppi_targets_find_name(struct ppi_targets *targets)
{
	char *real = strchr(targets->name, '/') ? realpath(targets->name, NULL)
	                                        : NULL;
	struct seen *seen = calloc(1, sizeof(*seen));
	bool is_good = seen && look(targets, real ? real : targets->name, seen);

	if (!is_good)
		ppi_say("out of memory");
	else if (targets->count == 0)
		say_none(targets->name, seen);
	for (size_t i = 0; seen && i < seen->count; i++)
		free(seen->names[i]);
	free(seen);
	free(real);
	return is_good && targets->count > 0;
}
