/* SPDX-License-Identifier: MIT */
/* Telling that this process is a forked child: taking and returning a page. */
#include "config.h"

#include "port/fork_guard.h"

#include <stddef.h>
#include <sys/mman.h>

#ifndef MAP_ANONYMOUS
#define MAP_ANONYMOUS MAP_ANON
#endif

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* What takes an advice that nobody gives has not read it: qemu-user says yes
 * to all of them and wipes nothing. */
static bool wipe_on_fork(void *page)
{
#if defined(MADV_WIPEONFORK)
	enum { NO_ADVICE = 9999 };

	return madvise(page, page_bytes(), NO_ADVICE) != 0 &&
	       madvise(page, page_bytes(), MADV_WIPEONFORK) == 0;
#elif defined(INHERIT_ZERO)
	return minherit(page, page_bytes(), INHERIT_ZERO) == 0;
#else
	(void)page;
	return false;
#endif
}

void ppi_fork_guard_init(struct ppi_fork_guard *guard)
{
	unsigned char *page = mmap(NULL, page_bytes(), PROT_READ | PROT_WRITE,
	                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	guard->owner = getpid();
	guard->page = NULL;
	if (page == MAP_FAILED)
		return;
	if (!wipe_on_fork(page)) {
		munmap(page, page_bytes());
		return;
	}
	page[0] = 1;
	guard->page = page;
}

void ppi_fork_guard_release(struct ppi_fork_guard *guard)
{
	if (guard->page)
		munmap((void *)(size_t)guard->page, page_bytes());
	guard->page = NULL;
}
