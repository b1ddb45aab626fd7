/* SPDX-License-Identifier: MIT */
/* open(2), fcntl(2) of POSIX.1-2008; the numbers are made up. */
#ifndef OS_FCNTL_H
#define OS_FCNTL_H

#include <sys/types.h>

#define O_RDONLY 0
#define O_WRONLY 1
#define O_RDWR 2
#define O_CREAT 0x200
#define O_TRUNC 0x400
#define O_CLOEXEC 0x100000
#define O_NOCTTY 0x8000
#define O_NONBLOCK 4
#define O_NOFOLLOW 0x100
#define F_DUPFD_CLOEXEC 17
#define F_SETFD 2
#define F_SETFL 4
#define FD_CLOEXEC 1

int open(const char *path, int flags, ...);
int fcntl(int fd, int request, ...);

#endif
