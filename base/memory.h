/* SPDX-License-Identifier: MIT */
/* Memory from the system: limits, pages, and memory that processes share. */
#ifndef PPI_MEMORY_H
#define PPI_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

/* ---- limits ---- */

/* Whether address space or data of this process is limited (setrlimit(2)). */
bool ppi_memory_is_limited(void);

/*
 * Before a thread of ours is made: where there is less than 1 GiB of address
 * space, no thread from now on has a heap of its own. With the GNU C library
 * each would take 64 MiB of it, and 128 for a moment.
 */
void ppi_memory_spare(void);

/* ---- pages: zeroed, and not shared ---- */

/* BSD's older name, which every system has. */
#ifndef MAP_ANON
#define MAP_ANON MAP_ANONYMOUS
#endif

/* NULL and errno on failure. */
static inline void *ppi_pages_map(size_t bytes)
{
	void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	                   MAP_PRIVATE | MAP_ANON, -1, 0);

	return pages == MAP_FAILED ? NULL : pages;
}

static inline void ppi_pages_unmap(void *pages, size_t bytes)
{
	munmap(pages, bytes);
}

/* ---- shared by a number ---- */

/*
 * Memory that processes share by a number (shmget(2)). No descriptor and no
 * name in the file system belongs to it, so a process that closes what it does
 * not know, changes its root, gives up its rights or may open or write nothing
 * more keeps it and can still attach to it.
 */

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
