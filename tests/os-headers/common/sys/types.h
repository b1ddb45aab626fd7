/* SPDX-License-Identifier: MIT */
/* Types of POSIX.1-2008 that are alike; os_types.h has the others. */
#ifndef OS_SYS_TYPES_H
#define OS_SYS_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include <os_types.h>

typedef int pid_t;
typedef unsigned uid_t, gid_t, mode_t;
typedef long ssize_t;
typedef unsigned char u_char;
typedef unsigned useconds_t;
typedef unsigned u_int;
typedef unsigned long u_long;

#endif
