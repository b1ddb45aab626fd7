/* SPDX-License-Identifier: MIT */
/* illumos: profil(2), issetugid(2), fexecve(3C). The page says unsigned int three times;
 * since there are 64-bit programs the header says size_t and unsigned long. */
#ifndef OS_SOLARIS_UNISTD_H
#define OS_SOLARIS_UNISTD_H

#include_next <unistd.h>

void profil(unsigned short *buffer, size_t bytes, unsigned long offset,
            unsigned int scale);
int issetugid(void);
int fexecve(int fd, char *const argv[], char *const envp[]);

#endif
