/* SPDX-License-Identifier: MIT */
/* NetBSD: types(3), pthread(3): time_t has 64 bits on every machine. */
#ifndef OS_TYPES_H
#define OS_TYPES_H

typedef int64_t time_t;
typedef uint64_t dev_t;
typedef uint64_t ino_t;
typedef int clockid_t;
typedef int suseconds_t;
typedef int64_t off_t;
typedef struct __pthread_st *pthread_t;

#endif
