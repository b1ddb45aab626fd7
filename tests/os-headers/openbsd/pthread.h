/* SPDX-License-Identifier: MIT */
/* OpenBSD: pthread_getcpuclockid(3). */
#ifndef OS_OPENBSD_PTHREAD_H
#define OS_OPENBSD_PTHREAD_H

#include_next <pthread.h>

int pthread_getcpuclockid(pthread_t thread, clockid_t *clock);

#endif
