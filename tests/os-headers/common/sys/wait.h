/* SPDX-License-Identifier: MIT */
/* waitpid(2) and waitid(2) of POSIX.1-2008, wait4(2); the numbers are made up.
 * NetBSD 6 has no waitid: it came with wait6(2). */
#ifndef OS_SYS_WAIT_H
#define OS_SYS_WAIT_H

#include <signal.h>
#include <sys/types.h>

struct rusage;

#define WNOHANG 1
#define WIFSIGNALED(status) (((status) & 0177) != 0)
#define WTERMSIG(status) ((status) & 0177)
#define WEXITSTATUS(status) ((status) >> 8 & 0377)

#define WUNTRACED 2
#define WIFEXITED(status) (((status) & 0177) == 0)
#define WIFSTOPPED(status) (((status) & 0377) == 0177)
#define WSTOPSIG(status) ((status) >> 8 & 0377)
#define WCOREDUMP(status) (((status) & 0200) != 0)

pid_t wait(int *status);
pid_t waitpid(pid_t child, int *status, int options);
pid_t wait4(pid_t child, int *status, int options, struct rusage *usage);

#ifndef OS_HAS_NO_WAITID
#define WEXITED 0x20
#define WNOWAIT 0x10000
#define P_PID 1
typedef int idtype_t;
typedef pid_t id_t;
int waitid(idtype_t kind, id_t id, siginfo_t *info, int options);
#endif

#endif
