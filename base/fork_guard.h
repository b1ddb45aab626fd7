/* SPDX-License-Identifier: MIT */
/* Telling, at the price of one load, that this process is a forked child. */
#ifndef PPI_FORK_GUARD_H
#define PPI_FORK_GUARD_H

#include <stdbool.h>
#include <sys/types.h>
#include <unistd.h>

/*
 * A page that the kernel hands to a forked child as zeroes: MADV_WIPEONFORK
 * (Linux 4.14, madvise(2)), INHERIT_ZERO (FreeBSD 12, minherit(2)) or
 * MAP_INHERIT_ZERO (OpenBSD, NetBSD, minherit(2)). It works
 * for every way of making a process, raw clone(2) included, where a
 * pthread_atfork handler would not run. vfork children share the page, and
 * share what it guards. Where neither exists the pid is compared.
 */
struct ppi_fork_guard {
	const volatile unsigned char *page; /* NULL: compare the pid */
	pid_t owner;
};

void ppi_fork_guard_init(struct ppi_fork_guard *guard);
void ppi_fork_guard_release(struct ppi_fork_guard *guard);

/* Zeroed memory on the guard's page, for what a forked child is not to find;
 * NULL where there is no page. */
enum { PPI_FORK_GUARD_AT = 64, PPI_FORK_GUARD_BYTES = 1024 };

static inline void *ppi_fork_guard_memory(const struct ppi_fork_guard *guard)
{
	return guard->page ? (char *)(size_t)guard->page + PPI_FORK_GUARD_AT
	                   : NULL;
}

static inline bool ppi_is_forked(const struct ppi_fork_guard *guard)
{
	return guard->page ? *guard->page == 0 : getpid() != guard->owner;
}

#endif
