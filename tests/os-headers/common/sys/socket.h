/* SPDX-License-Identifier: MIT */
/* socketpair(2) of POSIX.1-2008; the numbers are made up. */
#ifndef OS_SYS_SOCKET_H
#define OS_SYS_SOCKET_H

#include <sys/types.h>

#define AF_UNIX 1
#define SOCK_STREAM 1

int socketpair(int domain, int type, int protocol, int ends[2]);

#endif
