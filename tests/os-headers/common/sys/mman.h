/* SPDX-License-Identifier: MIT */
/* mmap(2), munmap(2) of POSIX.1-2008, and MAP_ANON and MAP_ANONYMOUS of each system's page; the
 * numbers are made up. */
#ifndef OS_SYS_MMAN_H
#define OS_SYS_MMAN_H

#include <sys/types.h>

#define PROT_READ 1
#define PROT_WRITE 2
#define MAP_PRIVATE 2
#define MAP_ANON 0x1000
#define MAP_ANONYMOUS MAP_ANON
#define MAP_FAILED ((void *)-1)

void *mmap(void *at, size_t bytes, int protection, int flags, int fd,
           off_t offset);
int munmap(void *at, size_t bytes);

#endif
