/* SPDX-License-Identifier: MIT */
/* posix_spawn(3) of POSIX.1-2008. */
#ifndef OS_SPAWN_H
#define OS_SPAWN_H

#include <signal.h>
#include <sys/types.h>

typedef struct os_spawnattr *posix_spawnattr_t;
typedef struct os_spawn_actions *posix_spawn_file_actions_t;

int posix_spawn(pid_t *restrict pid, const char *restrict path,
                const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *restrict attr,
                char *const argv[restrict], char *const envp[restrict]);
int posix_spawnp(pid_t *restrict pid, const char *restrict file,
                 const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *restrict attr,
                 char *const argv[restrict], char *const envp[restrict]);
int posix_spawn_file_actions_init(posix_spawn_file_actions_t *actions);
int posix_spawn_file_actions_destroy(posix_spawn_file_actions_t *actions);
int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *actions, int from,
                                     int to);
int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t *restrict actions,
                                     int fd, const char *restrict path, int flags,
                                     mode_t mode);

#endif
