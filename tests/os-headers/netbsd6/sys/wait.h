/* SPDX-License-Identifier: MIT */
/* NetBSD 6: wait(2), which has no waitid. */
#ifndef OS_NETBSD6_SYS_WAIT_H
#define OS_NETBSD6_SYS_WAIT_H

#define OS_HAS_NO_WAITID 1
#include_next <sys/wait.h>

#endif
