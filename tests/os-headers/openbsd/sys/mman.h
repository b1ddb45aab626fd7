/* SPDX-License-Identifier: MIT */
/* OpenBSD: minherit(2), whose word for it is MAP_INHERIT_ZERO. */
#ifndef OS_OPENBSD_SYS_MMAN_H
#define OS_OPENBSD_SYS_MMAN_H

#include_next <sys/mman.h>

#define MAP_INHERIT_ZERO 3

int minherit(void *at, size_t bytes, int inherit);

#endif
