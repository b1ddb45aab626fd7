/* SPDX-License-Identifier: MIT */
/* FreeBSD: arch(7) has the sizes of time_t; pthread(3). */
#ifndef OS_TYPES_H
#define OS_TYPES_H

#ifdef __i386__
typedef int time_t;
#else
typedef long time_t;
#endif
typedef uint64_t dev_t;
typedef uint64_t ino_t;
typedef int clockid_t;
typedef long suseconds_t;
typedef int64_t off_t;
typedef unsigned long vm_offset_t;
typedef struct pthread *pthread_t;

#endif
