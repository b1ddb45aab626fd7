/* SPDX-License-Identifier: MIT */
/* Memory: limits of it, allocating less where they are low; and memory that processes
 * share by a number, by the calls of System V. */
#include "config.h"

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "base/memory.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/resource.h>
#include <sys/shm.h>

#ifdef HAVE_MALLOC_H
#include <malloc.h>
#endif

/* ---- limits ---- */

/* Of systems that do not limit address space. */
#ifndef RLIMIT_AS
#define RLIMIT_AS RLIMIT_DATA
#endif

enum { LITTLE = 1 << 30 };

static bool is_below(int resource, rlim_t bytes)
{
	struct rlimit limit;

	return getrlimit(resource, &limit) == 0 && limit.rlim_cur < bytes;
}

bool ppi_memory_is_limited(void)
{
	return is_below(RLIMIT_AS, RLIM_INFINITY) ||
	       is_below(RLIMIT_DATA, RLIM_INFINITY);
}

void ppi_memory_spare(void)
{
#ifdef M_ARENA_MAX
	if (is_below(RLIMIT_AS, LITTLE))
		mallopt(M_ARENA_MAX, 1);
#endif
}

/* No room is set aside before it is used: rings are mostly empty. */
#ifndef SHM_NORESERVE
#define SHM_NORESERVE 0
#endif

/* What is marked for removal can still be attached to, by its number, while
 * somebody is (shmctl(2), IPC_RMID). */
#if defined(__linux__)
enum { IS_ATTACHABLE_WHEN_REMOVED = 1 };
#else
enum { IS_ATTACHABLE_WHEN_REMOVED = 0 };
#endif

int ppi_shared_memory_create(size_t bytes, int *id, void **at)
{
	int kept, made = shmget(IPC_PRIVATE, bytes,
	                        IPC_CREAT | SHM_NORESERVE | 0600);

	if (made < 0)
		return -1;
	*at = shmat(made, NULL, 0);
	kept = errno;
	if ((intptr_t)*at == -1 || IS_ATTACHABLE_WHEN_REMOVED)
		shmctl(made, IPC_RMID, NULL);
	errno = kept;
	if ((intptr_t)*at == -1)
		return -1;
	*id = made;
	return 0;
}

void *ppi_shared_memory_attach(int id)
{
	void *at = shmat(id, NULL, 0);

	return (intptr_t)at == -1 ? NULL : at;
}

void ppi_shared_memory_detach(const void *at)
{
	shmdt(at);
}

long ppi_shared_memory_users(int id)
{
	struct shmid_ds about;

	return shmctl(id, IPC_STAT, &about) == 0 ? (long)about.shm_nattch : -1;
}

void ppi_shared_memory_free(int id, const void *at)
{
	shmdt(at);
	if (!IS_ATTACHABLE_WHEN_REMOVED)
		shmctl(id, IPC_RMID, NULL);
}
