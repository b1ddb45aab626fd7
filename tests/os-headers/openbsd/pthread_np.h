/* SPDX-License-Identifier: MIT */
/* OpenBSD's <pthread_np.h>, to compile its code on other systems:
 * pthread_set_name_np(3). */
#ifndef OS_PTHREAD_NP_H
#define OS_PTHREAD_NP_H

#include <pthread.h>

void pthread_set_name_np(pthread_t thread, const char *name);

#endif
