/* SPDX-License-Identifier: MIT */
/*
 * The system calls of the rusage backend, and nothing else. No config.h:
 * <procfs.h> of Solaris refuses 32-bit programs with large files.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "backends/rusage/rusage_kernel.h"
#include "base/clock_ns.h"
#include "base/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#if defined(__sun)
#include <procfs.h>
#endif

/* Linux 2.6.26, FreeBSD 8.1 and OpenBSD 4.9: RUSAGE_THREAD; illumos and
 * Solaris 10: RUSAGE_LWP. NetBSD has neither (getrusage(2) of each). */
#if defined(RUSAGE_THREAD)
#define OF_THREAD RUSAGE_THREAD
#elif defined(RUSAGE_LWP)
#define OF_THREAD RUSAGE_LWP
#endif

static uint64_t real_now_ns(void *self)
{
	(void)self;
	return ppi_monotonic_ns();
}

static int64_t real_process_id(void *self)
{
	(void)self;
	return getpid();
}

static int64_t real_thread_id(void *self)
{
	(void)self;
	return ppi_thread_id();
}

static uint64_t ns_of(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000000u +
	       (uint64_t)time->tv_usec * 1000u;
}

static int by_getrusage(int who, struct rusage_usage *out)
{
	struct rusage usage;

	if (getrusage(who, &usage) != 0)
		return -1;
	*out = (struct rusage_usage){
		.user_ns = ns_of(&usage.ru_utime),
		.system_ns = ns_of(&usage.ru_stime),
		.minor_faults = (uint64_t)usage.ru_minflt,
		.major_faults = (uint64_t)usage.ru_majflt,
		.voluntary = (uint64_t)usage.ru_nvcsw,
		.involuntary = (uint64_t)usage.ru_nivcsw,
	};
	return 0;
}

#if defined(__sun)

/* getrusage leaves out what running threads have used since their last change
 * of state; usage of proc(5) has it (usr/src/uts/common/os/msacct.c). */
static int of_process(struct rusage_usage *out)
{
	prusage_t usage;
	ssize_t got;
	int fd = open("/proc/self/usage", O_RDONLY);

	if (fd < 0)
		return -1;
	got = read(fd, &usage, sizeof(usage));
	close(fd);
	if (got != (ssize_t)sizeof(usage)) {
		errno = EIO;
		return -1;
	}
	*out = (struct rusage_usage){
		.user_ns = ppi_ns_of(&usage.pr_utime),
		.system_ns = ppi_ns_of(&usage.pr_stime) +
		             ppi_ns_of(&usage.pr_ttime),
		.minor_faults = usage.pr_minf,
		.major_faults = usage.pr_majf,
		.voluntary = usage.pr_vctx,
		.involuntary = usage.pr_ictx,
	};
	return 0;
}

#else

static int of_process(struct rusage_usage *out)
{
	return by_getrusage(RUSAGE_SELF, out);
}

#endif

static int real_usage(void *self, enum rusage_whose whose,
                      struct rusage_usage *out)
{
	(void)self;
	if (whose == RUSAGE_OF_CHILDREN)
		return by_getrusage(RUSAGE_CHILDREN, out);
	if (whose == RUSAGE_OF_PROCESS)
		return of_process(out);
#if defined(OF_THREAD)
	return by_getrusage(OF_THREAD, out);
#else
	errno = ENOSYS;
	return -1;
#endif
}

static int real_cpu(void *self, enum ppi_cpu_source source, int64_t whose,
                    uint64_t *ns)
{
	(void)self;
	return ppi_cpu_read(source, whose, ns);
}

static int real_exists(void *self, int64_t pid)
{
	(void)self;
	return kill((pid_t)pid, 0);
}

static int real_read_file(void *self, const char *path, char *text,
                          size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	(void)self;
	if (fd < 0)
		return -1;
	got = read(fd, text, room - 1);
	close(fd);
	if (got < 0)
		return -1;
	text[got] = '\0';
	return 0;
}

/*
 * illumos measures each thread's states (microstate accounting, msacct.c). The
 * others charge user and system time by what a tick meets, and scale that to
 * the time that was measured: Linux kernel/sched/cputime.c cputime_adjust,
 * FreeBSD, NetBSD and DragonFly kern_resource.c calcru, OpenBSD
 * kern_resource.c calctsru.
 */
#if defined(__sun)
#define SPLIT_IS_EXACT true
#define RULES ppi_cpu_solaris
#else
#define SPLIT_IS_EXACT false
#if defined(__linux__)
#define RULES ppi_cpu_linux
#elif defined(__FreeBSD__)
#define RULES ppi_cpu_freebsd
#elif defined(__NetBSD__)
#define RULES ppi_cpu_netbsd
#elif defined(__OpenBSD__)
#define RULES ppi_cpu_openbsd
#elif defined(__DragonFly__)
#define RULES ppi_cpu_dragonfly
#else
#define RULES ppi_cpu_other
#endif
#endif

const struct rusage_kernel ppi_rusage_kernel_real = {
	.rules = &RULES,
#if defined(OF_THREAD)
	.has_threads = true,
#endif
	.is_split_exact = SPLIT_IS_EXACT,
	.now_ns = real_now_ns,
	.process_id = real_process_id,
	.thread_id = real_thread_id,
	.usage = real_usage,
	.cpu = real_cpu,
	.exists = real_exists,
	.read_file = real_read_file,
	.self = NULL,
};
