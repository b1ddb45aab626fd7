/* SPDX-License-Identifier: MIT */
/* NetBSD: sysctl(3), sysctl(7): kern.proc2 gives a struct kinfo_proc2, whose
 * flags are in the same header, and kern.lwp a struct kinfo_lwp for each
 * thread; the other numbers are made up. */
#ifndef OS_SYS_SYSCTL_H
#define OS_SYS_SYSCTL_H

#include <sys/types.h>

#define CTL_KERN 1
#define KERN_CLOCKRATE 12
#define KERN_PROC_PID 1
#define KERN_PROC2 47
#define KERN_LWP 64

#define P_PROFIL 0x00000020
#define LSRUN 2
#define LSONPROC 7

struct kinfo_proc2 {
	uint64_t p_paddr;
	int32_t p_flag; /* P_... */
	int32_t p_pid;
};

struct kinfo_lwp {
	uint64_t l_addr;
	int32_t l_lid;
	uint32_t l_rtime_sec, l_rtime_usec;
	int8_t l_stat; /* LS... */
	char l_wmesg[8];
};

int sysctl(const int *name, u_int parts, void *old, size_t *old_bytes,
           const void *next, size_t next_bytes);

#endif
