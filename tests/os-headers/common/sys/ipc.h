/* SPDX-License-Identifier: MIT */
/* <sys/ipc.h> of POSIX.1-2008; the numbers are made up. */
#ifndef OS_SYS_IPC_H
#define OS_SYS_IPC_H

#include <sys/types.h>

#define IPC_CREAT 01000
#define IPC_PRIVATE 0
#define IPC_RMID 0
#define IPC_STAT 2

#endif
