/* SPDX-License-Identifier: MIT */
/* OpenBSD: sysctl(2): KERN_PROC gives a struct kinfo_proc; the numbers are
 * made up. */
#ifndef OS_SYS_SYSCTL_H
#define OS_SYS_SYSCTL_H

#include <sys/types.h>

#define CTL_KERN 1
#define KERN_CLOCKRATE 12
#define KERN_PROC 66
#define KERN_PROC_PID 1

struct kinfo_proc {
	uint64_t p_paddr;
	int32_t p_pid;
	uint32_t p_psflags; /* PS_... */
};

int sysctl(const int *name, u_int parts, void *old, size_t *old_bytes,
           void *next, size_t next_bytes);

#endif
