/* SPDX-License-Identifier: MIT */
/* OpenBSD to 7.4: syscall(2). */
#ifndef OS_OPENBSD_SYS_SYSCALL_H
#define OS_OPENBSD_SYS_SYSCALL_H

#define SYS_profil 44

#endif
