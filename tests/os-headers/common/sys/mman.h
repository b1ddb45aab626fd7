/* SPDX-License-Identifier: MIT */
/* What is used of <sys/mman.h> of POSIX.1-2008, madvise(2), and MAP_ANON and MAP_ANONYMOUS of each system's page; the
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
#define PROT_NONE 0
#define PROT_EXEC 4
#define MAP_SHARED 1
#define MAP_FIXED 0x10
#define MADV_DONTNEED 4
#define MCL_CURRENT 1
#define MCL_FUTURE 2

int mprotect(void *at, size_t bytes, int protection);
int madvise(void *at, size_t bytes, int advice);
int mlockall(int flags);

#endif
