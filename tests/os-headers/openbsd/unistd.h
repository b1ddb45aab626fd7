/* SPDX-License-Identifier: MIT */
/* OpenBSD 7.5 to 7.7: profil(2), issetugid(2), getthrid(2), and no syscall(2). */
#ifndef OS_OPENBSD_UNISTD_H
#define OS_OPENBSD_UNISTD_H

#include_next <unistd.h>

int profil(char *samples, size_t size, u_long offset, u_int scale);
int issetugid(void);
pid_t getthrid(void);
int execvpe(const char *file, char *const argv[], char *const envp[]);

#endif
