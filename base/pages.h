/* SPDX-License-Identifier: MIT */
/* Pages of memory directly from the system: zeroed, and not shared. */
#ifndef PPI_PAGES_H
#define PPI_PAGES_H

#include <stddef.h>
#include <sys/mman.h>

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

#endif
