/* SPDX-License-Identifier: MIT */
/* FreeBSD: sysctl(3), KERN_PROC gives a struct kinfo_proc. */
#ifndef OS_SYS_USER_H
#define OS_SYS_USER_H

#include <sys/types.h>

struct kinfo_proc {
	int ki_structsize;
	pid_t ki_pid;
	long ki_flag; /* P_... */
	char ki_stat; /* S... */
	char ki_wmesg[9], ki_lockname[9];
	uint64_t ki_runtime; /* in microseconds */
	int ki_tid;
};

#endif
