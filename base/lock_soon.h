/* SPDX-License-Identifier: MIT */
/* A lock for those whom nobody may keep waiting for ever. */
#ifndef PPI_LOCK_SOON_H
#define PPI_LOCK_SOON_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

/* Within a second: whoever has the lock may be stuck, or wait for us. */
static inline bool ppi_lock_soon(pthread_mutex_t *lock)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 1;
	return pthread_mutex_timedlock(lock, &until) == 0;
}

#endif
