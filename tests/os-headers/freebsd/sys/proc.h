/* SPDX-License-Identifier: MIT */
/* FreeBSD: ps(1), keyword flags: P_PROFIL 0x00000020. */
#ifndef OS_SYS_PROC_H
#define OS_SYS_PROC_H

#define P_PROFIL 0x00000020

#endif
