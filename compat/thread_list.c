/* SPDX-License-Identifier: MIT */
/* Listing threads and reading their CPU clocks, as each system allows it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "compat/thread_list.h"

#include "compat/clock_ns.h"

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

static int no_such_thread(void)
{
	/* the kernel says EINVAL of a clock whose thread is gone */
	if (errno == EINVAL)
		errno = ESRCH;
	return -1;
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
	return tid ? (clockid_t)-1 : CLOCK_THREAD_CPUTIME_ID;
}

static int no_such_thread(void)
{
	errno = ENOSYS;
	return -1;
}

#endif

int ppi_thread_cpu_ns(int64_t tid, uint64_t *ns)
{
	return ppi_clock_ns(ppi_thread_clock(tid), ns) == 0 ? 0 :
	                                                      no_such_thread();
}
