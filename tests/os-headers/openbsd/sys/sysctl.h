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
#define KERN_PROC_SHOW_THREADS 0x40000000

struct kinfo_proc {
	uint64_t p_paddr;
	int32_t p_pid;
	uint32_t p_psflags; /* PS_... */
	uint32_t p_rtime_sec, p_rtime_usec;
	int8_t p_stat; /* S... */
	char p_wmesg[8];
	int32_t p_tid; /* -1: the process, with the sums of all */
};

int sysctl(const int *name, u_int parts, void *old, size_t *old_bytes,
           void *next, size_t next_bytes);

#endif
