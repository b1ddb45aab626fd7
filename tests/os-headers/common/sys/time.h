/* SPDX-License-Identifier: MIT */
/* What is used of <sys/time.h> of POSIX.1-2008; the numbers are made up. */
#ifndef OS_SYS_TIME_H
#define OS_SYS_TIME_H

#include <sys/types.h>

struct timeval {
	time_t tv_sec;
	suseconds_t tv_usec;
};

struct itimerval {
	struct timeval it_interval, it_value;
};

#define ITIMER_PROF 2

int getitimer(int which, struct itimerval *now);
int setitimer(int which, const struct itimerval *restrict next,
              struct itimerval *restrict before);
#define ITIMER_REAL 0
#define ITIMER_VIRTUAL 1

int gettimeofday(struct timeval *restrict now, void *restrict zone);
int utimes(const char *path, const struct timeval times[2]);

#endif
