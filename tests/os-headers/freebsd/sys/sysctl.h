/* SPDX-License-Identifier: MIT */
/* FreeBSD: sysctl(3); the numbers are made up. */
#ifndef OS_SYS_SYSCTL_H
#define OS_SYS_SYSCTL_H

#include <sys/types.h>

#define CTL_KERN 1
#define KERN_CLOCKRATE 12
#define KERN_PROC 14
#define KERN_PROC_PID 1
#define KERN_PROC_INC_THREAD 0x10
#define KERN_PROC_PATHNAME 12

int sysctl(const int *name, u_int parts, void *old, size_t *old_bytes,
           const void *next, size_t next_bytes);

#endif
