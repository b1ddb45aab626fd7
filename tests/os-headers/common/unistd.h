/* SPDX-License-Identifier: MIT */
/* What is used of <unistd.h> of POSIX.1-2008 but for fexecve(3), which NetBSD
 * and OpenBSD lack; daemon(3), vfork(2) and _SC_NPROCESSORS_ONLN of sysconf(3), which
 * each of the systems has; the numbers are made up. */
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
#define R_OK 4
#define W_OK 2
#define X_OK 1
#define SEEK_CUR 1
#define SEEK_END 2
#define _SC_OPEN_MAX 5
#define _SC_PHYS_PAGES 121

extern char **environ;
extern char *optarg;
extern int optind, opterr, optopt;

int getopt(int count, char *const list[], const char *letters);
ssize_t pwrite(int fd, const void *from, size_t bytes, off_t offset);
int ftruncate(int fd, off_t bytes);
int truncate(const char *path, off_t bytes);
int fsync(int fd);
int dup(int fd);
int rmdir(const char *path);
int link(const char *from, const char *to);
int symlink(const char *from, const char *to);
int chdir(const char *path);
char *getcwd(char *out, size_t bytes);
int chown(const char *path, uid_t user, gid_t group);
pid_t getppid(void);
pid_t getpgrp(void);
pid_t getpgid(pid_t pid);
int setpgid(pid_t pid, pid_t group);
pid_t setsid(void);
pid_t getsid(pid_t pid);
pid_t tcgetpgrp(int fd);
int tcsetpgrp(int fd, pid_t group);
int setuid(uid_t user);
int setgid(gid_t group);
int seteuid(uid_t user);
int setegid(gid_t group);
pid_t vfork(void);
unsigned alarm(unsigned seconds);
unsigned sleep(unsigned seconds);
int usleep(unsigned microseconds);
int pause(void);
int nice(int more);
int gethostname(char *name, size_t bytes);
char *ttyname(int fd);
#define _SC_THREAD_STACK_MIN 93

int lchown(const char *path, uid_t user, gid_t group);

#endif
