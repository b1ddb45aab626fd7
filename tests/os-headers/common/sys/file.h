/* SPDX-License-Identifier: MIT */
/* flock(2), which each of the systems has; the numbers are the BSDs'. */
#ifndef OS_SYS_FILE_H
#define OS_SYS_FILE_H

#define LOCK_SH 1
#define LOCK_EX 2
#define LOCK_NB 4
#define LOCK_UN 8

int flock(int fd, int operation);

#endif
