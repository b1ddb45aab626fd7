/* SPDX-License-Identifier: MIT */
/* Processes of others: watched until they end, and found by name. */
#include "config.h"

#include "tools/targets/targets.h"
#include "tools/tools.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- until it ends ---- */

/*
 * Somebody else's process or thread, watched until it ends: by /proc, whose
 * entries of threads can be opened although they are not listed. Where there
 * is no /proc no backend can attach to another process either.
 */

struct status {
	char state;
	unsigned long long threads, began;
};

/* For the stat of a process the kernel adds up all of its threads each time; that of its
 * first thread has the same in the fields that are read here (fs/proc/array.c,
 * do_task_stat). */
static int open_stat(int64_t id)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%lld/task/%lld/stat", (long long)id,
	         (long long)id);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/%lld/stat", (long long)id);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Fields of /proc/ID/stat by proc_pid_stat(5): state is the third, the number
 * of threads the 20th, the start time the 22nd. The second, a name, may hold
 * anything. */
static bool read_stat(int fd, struct status *status)
{
	char text[1024], *fields;
	ssize_t got = pread(fd, text, sizeof(text) - 1, 0);

	if (got <= 0)
		return false;
	text[got] = '\0';
	fields = strrchr(text, ')');
	return fields &&
	       sscanf(fields + 1,
	              " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
	              "%*s %*s %*s %*s %llu %*s %llu",
	              &status->state, &status->threads, &status->began) == 3;
}

static bool read_status(int64_t id, struct status *status)
{
	int fd = open_stat(id);
	bool is_read;

	if (fd < 0)
		return false;
	is_read = read_stat(fd, status);
	close(fd);
	return is_read;
}

/*
 * Who is watched is asked for fifty times a second, and to open the file costs most
 * of that. It stays that process's, which it cannot be read of once that is gone.
 */
static bool read_status_again(int64_t id, struct status *status)
{
	static int64_t held_id;
	static int held = -1;

	if (held >= 0 && held_id == id && read_stat(held, status))
		return true;
	if (held >= 0)
		close(held);
	held = open_stat(id);
	held_id = id;
	return held >= 0 && read_stat(held, status);
}

/* A first thread that has ended stays as long as others of its process run;
 * a process that has ended keeps one thread until its parent has asked. */
static bool is_alive(const struct status *status, bool is_thread)
{
	if (status->state != 'Z' && status->state != 'X')
		return true;
	return !is_thread && status->threads > 1;
}

/* Signal 0 finds it whatever /proc shows: kill(2). */
static void say_why_not(int64_t id, bool is_thread)
{
	const char *what = is_thread ? "thread" : "process";
	struct status status;

	if ((kill((pid_t)id, 0) != 0 && errno != EPERM) ||
	    read_status(id, &status)) {
		ppi_say("there is no %s %lld, or it has ended", what,
		        (long long)id);
	} else if (!read_status(getpid(), &status)) {
		ppi_say("%s %lld runs, but /proc, which is needed to measure "
		        "it, is not mounted", what, (long long)id);
		ppi_say("as administrator: mount -t proc proc /proc");
	} else {
		ppi_say("%s %lld runs, but /proc hides it from this user "
		        "(hidepid)", what, (long long)id);
		ppi_say("attach as its owner or as administrator, or mount -o "
		        "remount,hidepid=0 /proc");
	}
}

static bool begin(struct ppi_watch *watch, int64_t id, bool is_thread)
{
	struct status status;

	watch->id = id;
	watch->is_thread = is_thread;
	if (!read_status(id, &status) || !is_alive(&status, is_thread))
		return false;
	watch->began = status.began;
	return true;
}

bool ppi_watch_begin(struct ppi_watch *watch, int64_t id, bool is_thread)
{
	if (begin(watch, id, is_thread))
		return true;
	say_why_not(id, is_thread);
	return false;
}

bool ppi_watch_try(struct ppi_watch *watch, int64_t pid)
{
	return begin(watch, pid, false);
}

bool ppi_watch_has_ended(const struct ppi_watch *watch)
{
	struct status status;

	return !read_status_again(watch->id, &status) ||
	       status.began != watch->began ||
	       !is_alive(&status, watch->is_thread);
}

const char *ppi_watch_name(const struct ppi_watch *watch, char name[64])
{
	char path[48];
	FILE *file;

	name[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%lld/comm", (long long)watch->id);
	file = fopen(path, "re");
	if (!file)
		return name;
	if (!fgets(name, 64, file))
		name[0] = '\0';
	fclose(file);
	name[strcspn(name, "\n")] = '\0';
	return name;
}

/* ---- by name ---- */

/*
 * What /proc/PID/comm says, or the path of the program they run. The kernel
 * cuts the former to 15 bytes (prctl(2), PR_SET_NAME), so of a longer name the
 * program's own has to agree as well.
 */

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
