/* SPDX-License-Identifier: MIT */
/*
 * fork() and what calls it, wrapped: sessions of a child begin when they have
 * returned. No handler of pthread_atfork may begin one, because a session has a
 * thread, and on NetBSD a fork holds a lock that pthread_create needs until its
 * handlers have run (lib/libc/gen/pthread_atfork.c).
 *
 * In a static archive fork alone is wrapped, where the C library has it by
 * another name as well. Elsewhere a child begins at its next call of ours.
 */
#include "config.h"

#include "base/fork_guard.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define WRAPPER __attribute__((visibility("default")))

#if defined(PIC)

static struct {
	pid_t (*fork)(void);
	int (*daemon)(int, int);
	pid_t (*forkpty)(int *, char *, const void *, const void *);
} real;

/* POSIX lets a pointer to data hold one to a function; C does not. */
static void look_up(const char *name, void *function)
{
	void *found = dlsym(RTLD_NEXT, name);

	memcpy(function, &found, sizeof(found));
}

/* Early, as fork may be called where dlsym(3) may not. */
__attribute__((constructor)) static void look_up_all(void)
{
	look_up("fork", &real.fork);
	look_up("daemon", &real.daemon);
	look_up("forkpty", &real.forkpty);
}

static void before(void)
{
	if (!real.fork)
		look_up_all();
}

static int after(int result, int is_child)
{
	int kept = errno;

	if (is_child)
		ppi_fork_returned();
	errno = kept;
	return result;
}

static int is_missing(void)
{
	errno = ENOSYS;
	return -1;
}

WRAPPER pid_t fork(void)
{
	pid_t child;

	before();
	child = real.fork ? real.fork() : is_missing();
	return after(child, child == 0);
}

/* The caller of daemon continues in a child. */
WRAPPER int daemon(int keep_folder, int keep_streams)
{
	int result;

	before();
	result = real.daemon ? real.daemon(keep_folder, keep_streams) :
	                       is_missing();
	return after(result, 1);
}

/* Each system declares it in another header, some without const. */
WRAPPER pid_t forkpty(int *terminal, char *name, const void *modes,
                      const void *size);
WRAPPER pid_t forkpty(int *terminal, char *name, const void *modes,
                      const void *size)
{
	pid_t child;

	before();
	child = real.forkpty ? real.forkpty(terminal, name, modes, size) :
	                       is_missing();
	return after(child, child == 0);
}

#elif defined(__GLIBC__) || defined(__NetBSD__)

#ifdef __GLIBC__
#define NEXT_FORK __fork
#else
#define NEXT_FORK _fork
#endif
extern pid_t NEXT_FORK(void);

WRAPPER pid_t fork(void)
{
	pid_t child = NEXT_FORK();
	int kept = errno;

	if (child == 0)
		ppi_fork_returned();
	errno = kept;
	return child;
}

#else

/* An empty translation unit is none. */
extern int ppi_no_fork_wrapper_in_archives;

#endif
