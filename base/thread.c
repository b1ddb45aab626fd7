/* SPDX-License-Identifier: MIT */
/* Thread ids and names, and the program's file, as each system has them. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "base/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
