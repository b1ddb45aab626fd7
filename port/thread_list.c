/* SPDX-License-Identifier: MIT */
/* Listing threads, and the clocks of their CPU time, as each system allows. */
#include "config.h"

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "port/thread_list.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

#if defined(__linux__)

int ppi_thread_list(int64_t *tids, size_t room, size_t *count)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;
	size_t found = 0;
	int kept;

	if (!tasks)
		return -1;
	errno = 0;
	while ((entry = readdir(tasks))) {
		if (entry->d_name[0] == '.')
			continue;
		if (found < room)
			tids[found] = strtoll(entry->d_name, NULL, 10);
		found++;
	}
	kept = errno;
	closedir(tasks);
	errno = kept;
	if (kept)
		return -1;
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
