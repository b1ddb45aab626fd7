/* SPDX-License-Identifier: MIT */
/* OpenBSD: clock_gettime(2), gettimeofday(2), pthreads(3). */
#ifndef OS_TYPES_H
#define OS_TYPES_H

typedef long long time_t;
typedef int32_t dev_t;
typedef uint64_t ino_t;
typedef int clockid_t;
typedef long suseconds_t;
typedef long long off_t;
typedef struct pthread *pthread_t;

#endif
