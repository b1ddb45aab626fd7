/* SPDX-License-Identifier: MIT */
/* socketpair(2), socket(2), sendto(2) of POSIX.1-2024; the numbers are made up. */
#ifndef OS_SYS_SOCKET_H
#define OS_SYS_SOCKET_H

#include <sys/types.h>

#define AF_UNIX 1
#define SOCK_STREAM 1
#define SOCK_DGRAM 2
#define SOCK_CLOEXEC 0x10000000
#define MSG_NOSIGNAL 0x20000

typedef unsigned socklen_t;
typedef unsigned char sa_family_t;

struct sockaddr {
	sa_family_t sa_family;
	char sa_data[14];
};

int socket(int domain, int type, int protocol);
int socketpair(int domain, int type, int protocol, int ends[2]);
ssize_t sendto(int fd, const void *from, size_t bytes, int flags,
               const struct sockaddr *to, socklen_t size);

#endif
