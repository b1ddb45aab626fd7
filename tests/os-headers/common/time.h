/* SPDX-License-Identifier: MIT */
/* clock_gettime(2), nanosleep(2) of POSIX.1-2008; the numbers are made up. */
#ifndef OS_TIME_H
#define OS_TIME_H

#include <sys/types.h>

struct timespec {
	time_t tv_sec;
	long tv_nsec;
};

#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 4
#define CLOCK_THREAD_CPUTIME_ID 14
#define CLOCK_PROCESS_CPUTIME_ID 15

int clock_gettime(clockid_t clock, struct timespec *now);
int clock_getres(clockid_t clock, struct timespec *step);
int nanosleep(const struct timespec *asked, struct timespec *left);

#endif
