/* SPDX-License-Identifier: MIT */
/* DragonFly: syscall(2). */
#ifndef OS_DRAGONFLY_SYS_SYSCALL_H
#define OS_DRAGONFLY_SYS_SYSCALL_H

#define SYS_exit 1
#define SYS_profil 44

#endif
