/* SPDX-License-Identifier: MIT */
/* What is used of <sys/resource.h> of POSIX.1-2008; the numbers are made up. */
#ifndef OS_SYS_RESOURCE_H
#define OS_SYS_RESOURCE_H

#include <sys/time.h>

#define RUSAGE_SELF 0
#define RUSAGE_CHILDREN (-1)
#if defined(__FreeBSD__) || defined(__OpenBSD__)
#define RUSAGE_THREAD 1
#elif defined(__sun)
#define RUSAGE_LWP 1
#endif

struct rusage {
	struct timeval ru_utime, ru_stime;
	long ru_maxrss, ru_minflt, ru_majflt, ru_nvcsw, ru_nivcsw;
};

int getrusage(int who, struct rusage *usage);

#define RLIM_INFINITY ((rlim_t)-1)
#define RLIMIT_AS 1
#define RLIMIT_DATA 2
#define RLIMIT_CPU 0
#define RLIMIT_FSIZE 3
#define RLIMIT_STACK 4
#define RLIMIT_CORE 5
#define RLIMIT_NOFILE 8
#define PRIO_PROCESS 0

typedef unsigned long long rlim_t;

struct rlimit {
	rlim_t rlim_cur, rlim_max;
};

int setrlimit(int resource, const struct rlimit *limit);
int getpriority(int which, int who);
int setpriority(int which, int who, int value);
int getrlimit(int resource, struct rlimit *limit);

#endif
