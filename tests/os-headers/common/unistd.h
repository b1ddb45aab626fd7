/* SPDX-License-Identifier: MIT */
/* What is used of <unistd.h> of POSIX.1-2008 but for fexecve(3), which NetBSD
 * and OpenBSD lack; daemon(3), and _SC_NPROCESSORS_ONLN, which sysconf(3) of each of the
 * systems has; the numbers are made up. */
#ifndef OS_UNISTD_H
#define OS_UNISTD_H

#include <sys/types.h>

#define _SC_CLK_TCK 3
#define _SC_PAGESIZE 47
#define _SC_NPROCESSORS_ONLN 58

#define F_OK 0
#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
#define SEEK_SET 0

long sysconf(int name);
int access(const char *path, int mode);
ssize_t read(int fd, void *to, size_t bytes);
ssize_t pread(int fd, void *to, size_t bytes, off_t offset);
ssize_t write(int fd, const void *from, size_t bytes);
int close(int fd);
off_t lseek(int fd, off_t offset, int whence);
int pipe(int ends[2]);
int dup2(int from, int to);
int isatty(int fd);
int unlink(const char *path);
pid_t getpid(void);
pid_t fork(void);
int daemon(int keep_folder, int keep_streams);
uid_t getuid(void);
uid_t geteuid(void);
gid_t getgid(void);
gid_t getegid(void);
ssize_t readlink(const char *restrict path, char *restrict out, size_t bytes);

_Noreturn void _exit(int status);
int execve(const char *path, char *const argv[], char *const envp[]);
int execv(const char *path, char *const argv[]);
int execvp(const char *file, char *const argv[]);
int execl(const char *path, const char *arg, ...);
int execlp(const char *file, const char *arg, ...);
int execle(const char *path, const char *arg, ...);

#endif
