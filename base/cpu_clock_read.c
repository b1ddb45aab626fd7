/* SPDX-License-Identifier: MIT */
/*
 * The calls that report CPU time, as far as the system has them. No config.h:
 * <procfs.h> of Solaris refuses 32-bit programs with large files.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "base/clock_ns.h"
#include "base/thread.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/time.h>

#if defined(__NetBSD__)
#include <sched.h>
#include <stdlib.h>
#include <sys/param.h>
#include <sys/sysctl.h>
#elif defined(__sun)
#include <fcntl.h>
#include <procfs.h>
#include <stdio.h>
#endif

static int not_reported(void)
{
	errno = ENOSYS;
	return -1;
}

/* NetBSD before 8 and illumos before 2021 lack the clocks of CPU time. */
static int read_clock(int64_t whose, uint64_t *ns)
{
	if (whose == PPI_CPU_PROCESS) {
#ifdef CLOCK_PROCESS_CPUTIME_ID
		return ppi_kernel_clock_ns(CLOCK_PROCESS_CPUTIME_ID, ns);
#else
		return not_reported();
#endif
	}
	if (ppi_kernel_clock_ns(ppi_thread_clock(whose), ns) == 0)
		return 0;
	/* Linux says EINVAL of a clock whose thread is gone */
	if (errno == EINVAL)
		errno = ppi_cpu_here()->thread.reads_others ? ESRCH : ENOSYS;
	return -1;
}

static uint64_t ns_of(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000000u +
	       (uint64_t)time->tv_usec * 1000u;
}

static int read_rusage(int64_t whose, uint64_t *ns)
{
	struct rusage usage;

	if (whose != PPI_CPU_PROCESS)
		return not_reported();
	if (getrusage(RUSAGE_SELF, &usage) != 0)
		return -1;
	*ns = ns_of(&usage.ru_utime) + ns_of(&usage.ru_stime);
	return 0;
}

#if defined(__NetBSD__)

/* All threads of the process: there is no asking for one. Room for those that
 * come between the two calls. */
static struct kinfo_lwp *list_lwps(size_t *count)
{
	int name[] = { CTL_KERN, KERN_LWP, getpid(),
		       (int)sizeof(struct kinfo_lwp), 0 };
	struct kinfo_lwp *list;
	size_t bytes = 0;

	if (sysctl(name, 5, NULL, &bytes, NULL, 0) != 0)
		return NULL;
	bytes += 16 * sizeof(*list);
	list = malloc(bytes);
	if (!list)
		return NULL;
	name[4] = (int)(bytes / sizeof(*list));
	if (sysctl(name, 5, list, &bytes, NULL, 0) != 0) {
		free(list);
		return NULL;
	}
	*count = bytes / sizeof(*list);
	return list;
}

static int read_lwp(int64_t whose, uint64_t *ns)
{
	int64_t lid = whose ? whose : ppi_thread_id();
	struct kinfo_lwp *list;
	size_t count;
	int result = -1;

	if (whose == PPI_CPU_PROCESS)
		return not_reported();
	/* its present run is charged at a switch, to itself, too
	 * (kern_synch.c yield, mi_switch, updatertime) */
	if (lid == ppi_thread_id())
		sched_yield();
	list = list_lwps(&count);
	if (!list)
		return -1;
	errno = ESRCH;
	for (size_t i = 0; i < count; i++) {
		if (list[i].l_lid != lid)
			continue;
		*ns = (uint64_t)list[i].l_rtime_sec * 1000000000u +
		      (uint64_t)list[i].l_rtime_usec * 1000u;
		result = 0;
	}
	free(list);
	return result;
}

#else

static int read_lwp(int64_t whose, uint64_t *ns)
{
	(void)whose;
	(void)ns;
	return not_reported();
}

#endif

#if defined(__sun)

static uint64_t ns_of_state(const timestruc_t *time)
{
	return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

/* "/proc/self/lwp/17/lwpusage", without printf: signal handlers come here. */
static void put_path(char path[64], int64_t tid)
{
	static const char before[] = "/proc/self/lwp/", after[] = "/lwpusage";
	char digits[24];
	size_t count = 0, at = 0;

	do {
		digits[count++] = (char)('0' + tid % 10);
		tid /= 10;
	} while (tid);
	for (size_t i = 0; before[i]; i++)
		path[at++] = before[i];
	while (count)
		path[at++] = digits[--count];
	for (size_t i = 0; i < sizeof(after); i++)
		path[at++] = after[i];
}

static int read_usage(int64_t whose, uint64_t *ns)
{
	char path[64] = "/proc/self/usage";
	prusage_t usage;
	ssize_t got;
	int fd;

	if (whose != PPI_CPU_PROCESS)
		put_path(path, whose ? whose : ppi_thread_id());
	fd = open(path, O_RDONLY);
	if (fd < 0) {
		if (errno == ENOENT && whose > 0)
			errno = ESRCH;
		return -1;
	}
	got = read(fd, &usage, sizeof(usage));
	close(fd);
	if (got != (ssize_t)sizeof(usage))
		return not_reported();
	*ns = ns_of_state(&usage.pr_utime) + ns_of_state(&usage.pr_stime) +
	      ns_of_state(&usage.pr_ttime);
	return 0;
}

#else

static int read_usage(int64_t whose, uint64_t *ns)
{
	(void)whose;
	(void)ns;
	return not_reported();
}

#endif

int ppi_cpu_read(enum ppi_cpu_source source, int64_t whose, uint64_t *ns)
{
	if (whose == PPI_CPU_HELPER)
		return ppi_cpu_thread_ns(whose, ns);
	switch (source) {
	case PPI_CPU_CLOCK:
		return read_clock(whose, ns);
	case PPI_CPU_RUSAGE:
		return read_rusage(whose, ns);
	case PPI_CPU_LWP:
		return read_lwp(whose, ns);
	case PPI_CPU_USAGE:
		return read_usage(whose, ns);
	case PPI_CPU_NONE:
		break;
	}
	return not_reported();
}
