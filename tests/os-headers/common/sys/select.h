/* SPDX-License-Identifier: MIT */
/* select(2), pselect(2) of POSIX.1-2008; the sizes are made up. */
#ifndef OS_SYS_SELECT_H
#define OS_SYS_SELECT_H

#include <signal.h>
#include <sys/time.h>
#include <time.h>

typedef struct {
	unsigned bits[32];
} fd_set;

#define FD_SETSIZE 1024
#define FD_ZERO(set) ((void)((set)->bits[0] = 0))
#define FD_SET(fd, set) ((void)((set)->bits[(fd) / 32] |= 1u << (fd) % 32))
#define FD_ISSET(fd, set) ((int)((set)->bits[(fd) / 32] >> (fd) % 32 & 1))

int select(int count, fd_set *restrict in, fd_set *restrict out,
           fd_set *restrict errors, struct timeval *restrict time);
int pselect(int count, fd_set *restrict in, fd_set *restrict out,
            fd_set *restrict errors, const struct timespec *restrict time,
            const sigset_t *restrict mask);

#endif
