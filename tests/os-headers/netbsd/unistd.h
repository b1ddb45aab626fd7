/* SPDX-License-Identifier: MIT */
/* NetBSD: profil(2), issetugid(2), syscall(2), execvpe(3). */
#ifndef OS_NETBSD_UNISTD_H
#define OS_NETBSD_UNISTD_H

#include_next <unistd.h>

int profil(char *samples, size_t size, u_long offset, u_int scale);
int issetugid(void);
int syscall(int number, ...);
int execvpe(const char *file, char *const argv[], char *const envp[]);

#endif
