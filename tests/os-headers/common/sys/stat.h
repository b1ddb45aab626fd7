/* SPDX-License-Identifier: MIT */
/* What is used of <sys/stat.h> of POSIX.1-2008; the numbers are made up. */
#ifndef OS_SYS_STAT_H
#define OS_SYS_STAT_H

#include <sys/types.h>
#include <time.h>

struct stat {
	dev_t st_dev, st_rdev;
	ino_t st_ino;
	mode_t st_mode;
	unsigned st_nlink;
	uid_t st_uid;
	gid_t st_gid;
	int64_t st_blocks;
	off_t st_size;
	struct timespec st_atim, st_mtim, st_ctim;
};

#define S_IFMT 0170000
#define S_IFREG 0100000
#define S_ISREG(mode) (((mode) & S_IFMT) == S_IFREG)
#define S_ISDIR(mode) (((mode) & S_IFMT) == 0040000)
#define S_ISFIFO(mode) (((mode) & S_IFMT) == 0010000)
#define S_ISSOCK(mode) (((mode) & S_IFMT) == 0140000)

#define S_ISCHR(mode) (((mode) & S_IFMT) == 0020000)
#define S_ISBLK(mode) (((mode) & S_IFMT) == 0060000)
#define S_ISLNK(mode) (((mode) & S_IFMT) == 0120000)
#define S_IFCHR 0020000
#define S_IFDIR 0040000
#define S_IFLNK 0120000
#define S_IFIFO 0010000
#define S_ISUID 04000
#define S_ISGID 02000
#define S_ISVTX 01000
#define S_IRUSR 0400
#define S_IWUSR 0200
#define S_IXUSR 0100
#define S_IRWXU 0700
#define S_IRGRP 0040
#define S_IWGRP 0020
#define S_IXGRP 0010
#define S_IROTH 0004
#define S_IWOTH 0002
#define S_IXOTH 0001
#define st_mtime st_mtim.tv_sec

int lstat(const char *restrict path, struct stat *restrict out);
int fstatat(int folder, const char *restrict path, struct stat *restrict out,
            int flags);
int chmod(const char *path, mode_t mode);
int fchmod(int fd, mode_t mode);
mode_t umask(mode_t mask);
int mkdir(const char *path, mode_t mode);
int mkfifo(const char *path, mode_t mode);
int futimens(int fd, const struct timespec times[2]);
int utimensat(int folder, const char *path, const struct timespec times[2],
              int flags);
int stat(const char *restrict path, struct stat *restrict out);
int fstat(int fd, struct stat *out);

#endif
