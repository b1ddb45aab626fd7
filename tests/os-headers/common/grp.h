/* SPDX-License-Identifier: MIT */
/* setgroups(2), which each of the systems has here or in <unistd.h>. */
#ifndef OS_GRP_H
#define OS_GRP_H

#include <sys/types.h>

int setgroups(int count, const gid_t *groups);

#endif
