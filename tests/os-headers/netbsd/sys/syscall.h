/* SPDX-License-Identifier: MIT */
/* NetBSD: syscall(2). */
#ifndef OS_NETBSD_SYS_SYSCALL_H
#define OS_NETBSD_SYS_SYSCALL_H

#define SYS_exit 1
#define SYS_profil 44

#endif
