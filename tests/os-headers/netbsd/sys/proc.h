/* SPDX-License-Identifier: MIT */
/* NetBSD: nothing of it is meant for programs; sysctl(3). */
#ifndef OS_SYS_PROC_H
#define OS_SYS_PROC_H
#endif
