/* SPDX-License-Identifier: MIT */
/* Solaris and illumos: types.h(3HEAD), lf64(7). */
#ifndef OS_TYPES_H
#define OS_TYPES_H

typedef long time_t;
typedef unsigned long dev_t;
typedef unsigned long ino_t;
typedef int clockid_t;
typedef long suseconds_t;
typedef long off_t;
typedef unsigned pthread_t;

#endif
