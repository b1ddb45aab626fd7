/* SPDX-License-Identifier: MIT */
/*
 * Fork and exec: whether this process is a forked child, by a page that the kernel
 * empties; who continues in a child; whether timers are stopped before an exec.
 */
#include "config.h"

#include "base/fork_guard.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MAP_ANONYMOUS
#define MAP_ANONYMOUS MAP_ANON
#endif

/* ---- a forked child ---- */

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
	static atomic_bool reads_advice; /* as once seen */

	if (!atomic_load(&reads_advice) &&
	    madvise(page, page_bytes(), NO_ADVICE) == 0)
		return false;
	atomic_store(&reads_advice, true);
	return madvise(page, page_bytes(), MADV_WIPEONFORK) == 0;
#elif defined(INHERIT_ZERO)
	return minherit(page, page_bytes(), INHERIT_ZERO) == 0;
#elif defined(MAP_INHERIT_ZERO)
	return minherit(page, page_bytes(), MAP_INHERIT_ZERO) == 0;
#else
	(void)page;
	return false;
#endif
}

static void *new_page(void)
{
	void *page = mmap(NULL, page_bytes(), PROT_READ | PROT_WRITE,
	                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return NULL;
	if (wipe_on_fork(page))
		return page;
	munmap(page, page_bytes());
	return NULL;
}

/* The page of the last guard that was released, zero but for its mark:
 * mapping one takes as long as opening a counter. */
static _Atomic(unsigned char *) spare;
enum { SPARE_MARK = 1 };

/* A parent's has lost its mark, and a new one asks again how a page fares. */
static unsigned char *spare_page(void)
{
	unsigned char *page = atomic_exchange(&spare, NULL);

	if (!page || page[SPARE_MARK])
		return page;
	munmap(page, page_bytes());
	return NULL;
}

void ppi_fork_guard_init(struct ppi_fork_guard *guard)
{
	unsigned char *page = spare_page();

	if (!page)
		page = new_page();
	if (page)
		page[0] = 1;
	guard->owner = getpid();
	guard->page = page;
}

void ppi_fork_guard_release(struct ppi_fork_guard *guard)
{
	unsigned char *page = (unsigned char *)(size_t)guard->page;

	guard->page = NULL;
	if (!page)
		return;
	memset(page, 0, PPI_FORK_GUARD_AT + PPI_FORK_GUARD_BYTES);
	page[SPARE_MARK] = 1;
	page = atomic_exchange(&spare, page);
	if (page)
		munmap(page, page_bytes());
}

/* Where the library and the preloaded object find each other after a fork. */
struct ppi_heir ppi_heir;

/* ---- exec ---- */

const char *ppi_exec_object;

static atomic_bool is_promised;

void ppi_exec_guard_promise(void)
{
	atomic_store(&is_promised, true);
}

bool ppi_exec_guard_is_promised(void)
{
	return atomic_load(&is_promised);
}
