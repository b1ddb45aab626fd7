/* SPDX-License-Identifier: MIT */
/* sem_init(3) of POSIX.1-2008; the size is made up. */
#ifndef OS_SEMAPHORE_H
#define OS_SEMAPHORE_H

typedef struct {
	long os[4];
} sem_t;

int sem_init(sem_t *semaphore, int is_shared, unsigned value);
int sem_destroy(sem_t *semaphore);
int sem_post(sem_t *semaphore);
int sem_wait(sem_t *semaphore);
int sem_trywait(sem_t *semaphore);

#endif
