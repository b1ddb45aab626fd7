/* SPDX-License-Identifier: MIT */
/*
 * Somebody else's process or thread, watched until it ends: by /proc, whose
 * entries of threads can be opened although they are not listed. Where there
 * is no /proc no backend can attach to another process either.
 */
#include "config.h"

#include "tools/watch.h"

#include "tools/tools.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct status {
	char state;
	unsigned long long threads, began;
};

/* Fields of /proc/ID/stat by proc_pid_stat(5): state is the third, the number
 * of threads the 20th, the start time the 22nd. The second, a name, may hold
 * anything. */
static bool read_status(int64_t id, struct status *status)
{
	char path[48], text[1024], *fields;
	size_t got;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%lld/stat", (long long)id);
	file = fopen(path, "re");
	if (!file)
		return false;
	got = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[got] = '\0';
	fields = strrchr(text, ')');
	return fields &&
	       sscanf(fields + 1,
	              " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
	              "%*s %*s %*s %*s %llu %*s %llu",
	              &status->state, &status->threads, &status->began) == 3;
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

	return !read_status(watch->id, &status) ||
	       status.began != watch->began ||
	       !is_alive(&status, watch->is_thread);
}

bool ppi_process_runs(int64_t pid)
{
	struct status status;

	if (kill((pid_t)pid, 0) != 0 && errno != EPERM)
		return false;
	return !read_status(pid, &status) || is_alive(&status, false);
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
