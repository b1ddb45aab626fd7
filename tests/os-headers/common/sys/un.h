/* SPDX-License-Identifier: MIT */
/* <sys/un.h> of POSIX.1-2008; the length is the BSDs'. */
#ifndef OS_SYS_UN_H
#define OS_SYS_UN_H

#include <sys/socket.h>

struct sockaddr_un {
	sa_family_t sun_family;
	char sun_path[104];
};

#endif
