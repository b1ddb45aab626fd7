/* SPDX-License-Identifier: MIT */
/* poll(2) of POSIX.1-2008; the numbers are made up. */
#ifndef OS_POLL_H
#define OS_POLL_H

struct pollfd {
	int fd;
	short events, revents;
};
typedef unsigned nfds_t;

#define POLLIN 1
#define POLLOUT 4
#define POLLERR 8
#define POLLHUP 16

int poll(struct pollfd *list, nfds_t count, int milliseconds);

#endif
