/* SPDX-License-Identifier: MIT */
/* Listing threads, and the clocks of their CPU time, as each system allows. */
#include "config.h"

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "base/thread_list.h"

#include "base/thread.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__linux__)

/* Its number in its own namespace; 0 = it has ended. The last of several, from
 * the namespace of /proc inwards (proc_pid_status(5), NSpid). */
static int64_t own_number(int64_t tid)
{
	char path[64], line[512];
	int64_t number = 0;
	FILE *status;

	snprintf(path, sizeof(path), "/proc/self/task/%lld/status",
	         (long long)tid);
	status = fopen(path, "re");
	while (status && fgets(line, sizeof(line), status)) {
		char *last = strrchr(line, '\t');

		if (strncmp(line, "NSpid:", 6) == 0 && last)
			number = strtoll(last, NULL, 10);
	}
	if (status)
		fclose(status);
	return number;
}

/* /proc is that of another PID namespace, as after unshare(1) --pid. */
static size_t translate(int64_t *tids, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		int64_t number = own_number(tids[i]);

		if (number)
			tids[kept++] = number;
	}
	return kept;
}

int ppi_thread_list(int64_t *tids, size_t room, size_t *count)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;
	int64_t self = ppi_thread_id();
	bool has_self = false;
	size_t found = 0;
	int kept;

	if (!tasks)
		return -1;
	errno = 0;
	while ((entry = readdir(tasks))) {
		int64_t tid = strtoll(entry->d_name, NULL, 10);

		if (entry->d_name[0] == '.')
			continue;
		has_self |= tid == self;
		if (found < room)
			tids[found] = tid;
		found++;
	}
	kept = errno;
	closedir(tasks);
	errno = kept;
	if (kept)
		return -1;
	if (!has_self) {
		size_t left = translate(tids, found < room ? found : room);

		found = found > room ? found : left;
	}
	*count = found;
	return 0;
}

/* The clock's number is made from the thread's as clock_getcpuclockid(3) makes
 * that of a process: linux/posix-timers_types.h, CPUCLOCK_PERTHREAD_MASK (4)
 * and CPUCLOCK_SCHED (2). */
clockid_t ppi_thread_clock(int64_t tid)
{
	return tid ? (clockid_t)((~(unsigned)tid << 3) | 6u) :
	             CLOCK_THREAD_CPUTIME_ID;
}

#else

int ppi_thread_list(int64_t *tids, size_t room, size_t *count)
{
	(void)tids;
	(void)room;
	(void)count;
	errno = ENOSYS;
	return -1;
}

clockid_t ppi_thread_clock(int64_t tid)
{
#ifdef CLOCK_THREAD_CPUTIME_ID
	return tid ? (clockid_t)-1 : CLOCK_THREAD_CPUTIME_ID;
#else
	(void)tid;
	return (clockid_t)-1;
#endif
}

#endif
