/* SPDX-License-Identifier: MIT */
/* FreeBSD: minherit(2). */
#ifndef OS_FREEBSD_SYS_MMAN_H
#define OS_FREEBSD_SYS_MMAN_H

#include_next <sys/mman.h>

#define INHERIT_ZERO 3

int minherit(void *at, size_t bytes, int inherit);

#endif
