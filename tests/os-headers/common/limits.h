/* SPDX-License-Identifier: MIT */
/* <limits.h> of C11 is the compiler's; PATH_MAX of POSIX.1-2008. */
#ifndef OS_LIMITS_H
#define OS_LIMITS_H

#include_next <limits.h>

#define PATH_MAX 1024

#endif
