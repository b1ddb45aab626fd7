/* SPDX-License-Identifier: MIT */
/* OpenBSD: the flags that sysctl(2) gives in p_psflags; only <sys/proc.h>
 * itself tells them. */
#ifndef OS_SYS_PROC_H
#define OS_SYS_PROC_H

#define PS_PROFIL 0x00000100
#define SRUN 2
#define SONPROC 7

#endif
