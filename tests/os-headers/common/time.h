/* SPDX-License-Identifier: MIT */
/* What is used of <time.h> of C11 and POSIX.1-2008; the numbers are made up. */
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
struct tm {
	int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday,
		tm_isdst;
};

typedef long clock_t;

time_t time(time_t *now);
clock_t clock(void);
struct tm *localtime_r(const time_t *restrict at, struct tm *restrict out);
struct tm *gmtime_r(const time_t *restrict at, struct tm *restrict out);
struct tm *gmtime(const time_t *at);
struct tm *localtime(const time_t *at);
time_t mktime(struct tm *at);
size_t strftime(char *restrict out, size_t bytes, const char *restrict format,
                const struct tm *restrict at);
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *asked,
                    struct timespec *left);
#define CLOCKS_PER_SEC 1000000

#endif
