/* SPDX-License-Identifier: MIT */
/* FreeBSD: pthread_getthreadid_np(3), pthread_set_name_np(3). */
#ifndef OS_PTHREAD_NP_H
#define OS_PTHREAD_NP_H

#include <pthread.h>

int pthread_getthreadid_np(void);
void pthread_set_name_np(pthread_t thread, const char *name);

#endif
