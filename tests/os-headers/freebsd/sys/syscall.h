/* SPDX-License-Identifier: MIT */
/* FreeBSD: syscall(2). */
#ifndef OS_FREEBSD_SYS_SYSCALL_H
#define OS_FREEBSD_SYS_SYSCALL_H

#define SYS_exit 1
#define SYS_profil 44

#endif
