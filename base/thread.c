/* SPDX-License-Identifier: MIT */
/* Threads: ids and names, all of them, their CPU clocks; and the program's file. As
 * each system has them. */
#include "config.h"

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "base/thread.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef HAVE_SYS_SINGLE_THREADED_H /* glibc 2.32 */
#include <sys/single_threaded.h>
#endif

#if defined(__linux__)
#include <sys/syscall.h>
#elif defined(__FreeBSD__) || defined(__DragonFly__)
#include <pthread_np.h>
#include <sys/types.h>
#include <sys/sysctl.h>
#ifdef __FreeBSD__
#include <sys/thr.h>
#endif
#elif defined(__NetBSD__)
#include <lwp.h>
#elif defined(__OpenBSD__)
#include <pthread_np.h>
#include <signal.h>
#elif defined(__sun)
#include <thread.h>
#endif

bool ppi_thread_is_only(void)
{
#ifdef HAVE_SYS_SINGLE_THREADED_H
	return __libc_single_threaded;
#else
	return false;
#endif
}

/* ---- ids and names ---- */

int64_t ppi_thread_id(void)
{
#if defined(__linux__)
	return (int64_t)syscall(SYS_gettid);
#elif defined(__FreeBSD__) || defined(__DragonFly__)
	return pthread_getthreadid_np();
#elif defined(__NetBSD__)
	return _lwp_self();
#elif defined(__OpenBSD__)
	return getthrid();
#elif defined(__sun)
	return thr_self();
#else
	return getpid();
#endif
}

void ppi_thread_set_name(const char *name)
{
#if defined(__linux__)
	pthread_setname_np(pthread_self(), name);
#elif defined(__FreeBSD__) || defined(__OpenBSD__) || defined(__DragonFly__)
	pthread_set_name_np(pthread_self(), name);
#else
	(void)name;
#endif
}

/* Signal 0 to a thread of this process: none is sent. */
static int ask_for(int64_t tid)
{
#if defined(__linux__)
	return (int)syscall(SYS_tgkill, getpid(), (pid_t)tid, 0);
#elif defined(__FreeBSD__)
	return thr_kill((long)tid, 0);
#elif defined(__NetBSD__)
	return _lwp_kill((lwpid_t)tid, 0);
#elif defined(__OpenBSD__)
	return thrkill((pid_t)tid, 0, NULL);
#elif defined(__sun)
	errno = thr_kill((thread_t)tid, 0);
	return errno ? -1 : 0;
#else
	errno = ESRCH;
	return tid == ppi_thread_id() ? 0 : -1;
#endif
}

/* A sandbox may refuse the question: a number that may be ours is. */
bool ppi_thread_is_own(int64_t tid)
{
	return tid > 0 && (ask_for(tid) == 0 || errno != ESRCH);
}

/* proc_pid_comm(5): with a newline behind it. */
bool ppi_thread_name(int64_t pid, int64_t tid, char *name, size_t bytes)
{
#if defined(__linux__)
	char path[80], text[64];
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), "/proc/%lld/task/%lld/comm",
	         (long long)pid, (long long)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	length = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (length <= 0)
		return false;
	text[length] = '\0';
	if (text[length - 1] == '\n')
		text[length - 1] = '\0';
	snprintf(name, bytes, "%s", text);
	return true;
#else
	(void)pid;
	(void)tid;
	(void)name;
	(void)bytes;
	return false;
#endif
}

/* The first thread stays a zombie (Z) as long as there are others; it is
 * counted among them, and its status is the last field: proc_pid_stat(5). */
bool ppi_thread_is_last(int *exit_status)
{
#if defined(__linux__)
	char text[1024], state = '\0', *fields, *last;
	long threads = 0;
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	ssize_t length;

	if (fd < 0)
		return false;
	length = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[length > 0 ? length : 0] = '\0';
	/* a program's name may have anything in it */
	fields = strrchr(text, ')');
	if (!fields ||
	    sscanf(fields, ") %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
	           "%*s %*s %*s %*s %*s %ld", &state, &threads) != 2 ||
	    state != 'Z' || threads > 2)
		return false;
	last = strrchr(fields, ' ');
	*exit_status = last ? (int)strtol(last, NULL, 10) >> 8 & 0xff : 0;
	return true;
#else
	(void)exit_status;
	return false;
#endif
}

/* ---- the program ---- */

bool ppi_program_path(char *path, size_t bytes)
{
#if defined(__linux__) || defined(__NetBSD__)
#if defined(__linux__)
	const char *link = "/proc/self/exe";
#else
	const char *link = "/proc/curproc/exe";
#endif
	ssize_t length = readlink(link, path, bytes - 1);

	if (length <= 0)
		return false;
	path[length] = '\0';
	return true;
#elif defined(__FreeBSD__) || defined(__DragonFly__)
	int name[] = { CTL_KERN, KERN_PROC, KERN_PROC_PATHNAME, -1 };

	return sysctl(name, 4, path, &bytes, NULL, 0) == 0;
#elif defined(__sun)
	const char *found = getexecname();

	return found && snprintf(path, bytes, "%s", found) < (int)bytes;
#else
	(void)path;
	(void)bytes;
	return false;
#endif
}

/* ---- all threads, and the clocks of their CPU time ---- */

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
