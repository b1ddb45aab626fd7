/* SPDX-License-Identifier: MIT */
/* open(2), openat(2), fcntl(2) of POSIX.1-2008; the numbers are made up. */
#ifndef OS_FCNTL_H
#define OS_FCNTL_H

#include <sys/types.h>

#define O_RDONLY 0
#define O_WRONLY 1
#define O_RDWR 2
#define O_CREAT 0x200
#define O_TRUNC 0x400
#define O_EXCL 0x800
#define O_APPEND 8
#define O_DIRECTORY 0x20000
#define O_ACCMODE 3
#define AT_FDCWD (-100)
#define AT_SYMLINK_NOFOLLOW 2
#define O_CLOEXEC 0x100000
#define O_NOCTTY 0x8000
#define O_NONBLOCK 4
#define O_NOFOLLOW 0x100
#define F_DUPFD_CLOEXEC 17
#define F_DUPFD 0
#define F_GETFD 1
#define F_SETFD 2
#define F_GETFL 3
#define F_SETFL 4
#define FD_CLOEXEC 1

int open(const char *path, int flags, ...);
int openat(int folder, const char *path, int flags, ...);
int fcntl(int fd, int request, ...);

#endif
