/* SPDX-License-Identifier: MIT */
/* illumos: thr_self(3C), thr_kill(3C). */
#ifndef OS_THREAD_H
#define OS_THREAD_H

typedef unsigned thread_t;

thread_t thr_self(void);
int thr_kill(thread_t thread, int number);

#endif
