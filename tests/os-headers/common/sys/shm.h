/* SPDX-License-Identifier: MIT */
/* shmget(2), shmat(2), shmdt(2), shmctl(2) of POSIX.1-2008. */
#ifndef OS_SYS_SHM_H
#define OS_SYS_SHM_H

#include <sys/ipc.h>

struct shmid_ds {
	unsigned long shm_nattch;
};

int shmget(int key, size_t bytes, int flags);
void *shmat(int id, const void *at, int flags);
int shmdt(const void *at);
int shmctl(int id, int request, struct shmid_ds *about);

#endif
