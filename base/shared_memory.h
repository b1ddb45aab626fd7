/* SPDX-License-Identifier: MIT */
/*
 * Memory that processes share by a number (shmget(2)). No descriptor and no
 * name in the file system belongs to it, so a process that closes what it does
 * not know, changes its root, gives up its rights or may open or write nothing
 * more keeps it and can still attach to it.
 */
#ifndef PPI_SHARED_MEMORY_H
#define PPI_SHARED_MEMORY_H

#include <stddef.h>

/*
 * Zeroed memory of which the user of this process alone may attach. Linux
 * frees it when the last process is gone, however that ended; elsewhere it
 * stays until ppi_shared_memory_free. 0, or -1 with errno.
 */
int ppi_shared_memory_create(size_t bytes, int *id, void **at);

/* NULL with errno: EINVAL means that it is gone. */
void *ppi_shared_memory_attach(int id);
void ppi_shared_memory_detach(const void *at);

/* How many processes are attached; -1 with errno. */
long ppi_shared_memory_users(int id);

/* Detach, in the process that created it, and let it go. */
void ppi_shared_memory_free(int id, const void *at);

#endif
