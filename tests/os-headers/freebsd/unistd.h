/* SPDX-License-Identifier: MIT */
/* FreeBSD: profil(2), issetugid(2), syscall(2), fexecve(3), execvpe(3). */
#ifndef OS_FREEBSD_UNISTD_H
#define OS_FREEBSD_UNISTD_H

#include_next <unistd.h>

int profil(char *samples, size_t size, vm_offset_t offset, int scale);
int issetugid(void);
int syscall(int number, ...);
int fexecve(int fd, char *const argv[], char *const envp[]);
int execvpe(const char *file, char *const argv[], char *const envp[]);

#endif
