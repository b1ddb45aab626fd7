/* SPDX-License-Identifier: MIT */
/* Fork and exec: whether this process is a forked child, at the cost of one load;
 * what continues in one; whether timers are stopped before an exec. */
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

/* Whether our timers are stopped before each exec of this process. Async-signal-safe; a
 * forked child inherits the answer. */
void ppi_exec_guard_promise(void);
bool ppi_exec_guard_is_promised(void);

/*
 * Once this process has another root directory: the file that measures what it
 * executes, which that has to load, as its loader looked for it. NULL before, and
 * where nothing has to be loaded. Set by the preloaded object; the library says
 * where an exec misses it.
 */
extern const char *ppi_exec_object;

/*
 * A forked child that continues where its parent left samples, and has no session
 * of its own: the preloaded object asks, the library does.
 */
struct ppi_heir {
	/* In a forked child, after the library's own handlers of the fork:
	 * sample this thread, its only one, with the settings of the parent's
	 * session. False: that cannot be continued, and nothing has changed. */
	bool (*begin)(void);
	/* Nothing is sampled any more, and all that was is with the recorder.
	 * Async-signal-safe. */
	void (*end)(void);
	/* Set by who asks: the process ends, and no thread is waited for. */
	bool is_ending;
};

/* The library fills it when a session is opened that children can continue; NULL
 * until then. */
extern struct ppi_heir ppi_heir;

/* What is left to do when a fork has returned in the child: begin the child's session,
 * if it is to have one and has none. Defined by the library that holds fork_wrap.c. */
void ppi_fork_returned(void);

#endif
