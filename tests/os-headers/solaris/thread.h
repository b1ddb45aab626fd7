/* SPDX-License-Identifier: MIT */
/* illumos: thr_self(3C). */
#ifndef OS_THREAD_H
#define OS_THREAD_H

typedef unsigned thread_t;

thread_t thr_self(void);

#endif
