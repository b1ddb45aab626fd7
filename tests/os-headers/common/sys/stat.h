/* SPDX-License-Identifier: MIT */
/* stat(2), fstat(2) of POSIX.1-2008; the numbers are made up. */
#ifndef OS_SYS_STAT_H
#define OS_SYS_STAT_H

#include <sys/types.h>
#include <time.h>

struct stat {
	uint64_t st_dev, st_ino;
	mode_t st_mode;
	off_t st_size;
	struct timespec st_mtim;
};

#define S_IFMT 0170000
#define S_IFREG 0100000
#define S_ISREG(mode) (((mode) & S_IFMT) == S_IFREG)
#define S_ISDIR(mode) (((mode) & S_IFMT) == 0040000)
#define S_ISFIFO(mode) (((mode) & S_IFMT) == 0010000)
#define S_ISSOCK(mode) (((mode) & S_IFMT) == 0140000)

int stat(const char *restrict path, struct stat *restrict out);
int fstat(int fd, struct stat *out);

#endif
