/* SPDX-License-Identifier: MIT */
/* OpenBSD 7.4: syscall(2), which 7.5 has no more; the rest as in 7.7. */
#ifndef OS_OPENBSD74_UNISTD_H
#define OS_OPENBSD74_UNISTD_H

#include_next <unistd.h>

int syscall(int number, ...);

#endif
