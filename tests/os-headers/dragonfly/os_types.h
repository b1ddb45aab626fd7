/* SPDX-License-Identifier: MIT */
/* DragonFly: x86_64 only; clock_gettime(2), pthread(3). */
#ifndef OS_TYPES_H
#define OS_TYPES_H

typedef long time_t;
typedef uint32_t dev_t;
typedef uint64_t ino_t;
typedef unsigned long clockid_t;
typedef long suseconds_t;
typedef int64_t off_t;
typedef struct pthread *pthread_t;

#endif
