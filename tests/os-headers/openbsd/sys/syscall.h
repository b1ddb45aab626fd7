/* SPDX-License-Identifier: MIT */
/* OpenBSD: numbers of syscall(2), which it had until 7.4. */
#ifndef OS_OPENBSD_SYS_SYSCALL_H
#define OS_OPENBSD_SYS_SYSCALL_H

#define SYS_exit 1
#define SYS_profil 44

#endif
