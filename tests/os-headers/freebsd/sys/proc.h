/* SPDX-License-Identifier: MIT */
/* FreeBSD: ps(1), keyword flags: P_PROFIL 0x00000020; SRUN is what ki_stat has of who
 * runs or is ready. */
#ifndef OS_SYS_PROC_H
#define OS_SYS_PROC_H

#define P_PROFIL 0x00000020
#define SRUN 2

#endif
