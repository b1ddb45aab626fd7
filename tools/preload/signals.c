/* SPDX-License-Identifier: MIT */
/*
 * Keeps the program's hands off the signals that profile it.
 *
 * Programs set handlers for every signal there is (sort(1) does, to clean up
 * before it dies), and threads of libraries block all of them (liblzma's do).
 * Neither means ours; but the first would end the program at the next tick,
 * and the second leave such threads without samples. So for a signal that the
 * library in this object has taken, the program's wishes are remembered and
 * answered as if they were in force, and a mask never holds it. When the
 * library gives the signal back, what the program wished last comes into
 * force.
 *
 * Calls of the library itself go through: they come from this object's own
 * text. All here is async-signal-safe, as POSIX wants sigaction to be.
 */
#include "config.h"

#include "tools/preload/preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#ifndef NSIG
#define NSIG 65
#endif

static struct {
	int (*sigaction)(int, const struct sigaction *, struct sigaction *);
	int (*pthread_sigmask)(int, const sigset_t *, sigset_t *);
	int (*sigprocmask)(int, const sigset_t *, sigset_t *);
	void (*(*signal)(int, void (*)(int)))(int);
} real;

/* Where this object lies: calls from here are the library's. */
static uintptr_t own_start, own_end;

/* A signal that the library has taken, and what the program wishes for it. */
static struct {
	atomic_bool is_taken;
	struct sigaction wished;
} taken[NSIG];

static atomic_int taken_count;
static atomic_flag wishes = ATOMIC_FLAG_INIT;

/* ---- who calls, and what is real ---- */

/* POSIX lets a pointer to data hold one to a function; C does not. */
static void look_up(const char *name, void *function)
{
	void *found = dlsym(RTLD_NEXT, name);

	memcpy(function, &found, sizeof(found));
}

static int find_own(struct dl_phdr_info *info, size_t bytes, void *context)
{
	uintptr_t self = (uintptr_t)context, start = UINTPTR_MAX, end = 0;

	(void)bytes;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		if (from < start)
			start = from;
		if (from + info->dlpi_phdr[i].p_memsz > end)
			end = from + info->dlpi_phdr[i].p_memsz;
	}
	if (self < start || self >= end)
		return 0;
	own_start = start;
	own_end = end;
	return 1;
}

/* Before the constructor that begins to measure. */
__attribute__((constructor(101))) static void look_around(void)
{
	look_up("sigaction", &real.sigaction);
	look_up("pthread_sigmask", &real.pthread_sigmask);
	look_up("sigprocmask", &real.sigprocmask);
	look_up("signal", &real.signal);
	dl_iterate_phdr(find_own, (void *)(uintptr_t)look_around);
}

static bool is_own(uintptr_t address)
{
	return address >= own_start && address < own_end;
}

#define IS_OWN_CALL() is_own((uintptr_t)__builtin_return_address(0))

static bool is_own_handler(const struct sigaction *action)
{
	return action->sa_flags & SA_SIGINFO &&
	       is_own((uintptr_t)action->sa_sigaction);
}

/* Other objects' constructors may come before ours. */
static int call_sigaction(int number, const struct sigaction *next,
                          struct sigaction *before)
{
	if (!real.sigaction)
		look_around();
	return real.sigaction(number, next, before);
}

/* ---- handlers ---- */

/* A handler must not interrupt the holder of the lock and want it too. */
static void lock_wishes(sigset_t *mask)
{
	sigset_t all;

	sigfillset(&all);
	real.pthread_sigmask(SIG_BLOCK, &all, mask);
	while (atomic_flag_test_and_set(&wishes))
		;
}

static void unlock_wishes(const sigset_t *mask)
{
	atomic_flag_clear(&wishes);
	real.pthread_sigmask(SIG_SETMASK, mask, NULL);
}

/* The library takes a signal, or gives it back: then the program's own wish
 * is what was there before. */
static int own_sigaction(int number, const struct sigaction *next,
                         struct sigaction *before)
{
	struct sigaction now, *wished = &taken[number].wished;
	bool was_taken = atomic_load(&taken[number].is_taken);
	sigset_t mask;
	int result;

	if (!next)
		return call_sigaction(number, NULL, before);
	lock_wishes(&mask);
	if (was_taken && !is_own_handler(next)) {
		atomic_store(&taken[number].is_taken, false);
		atomic_fetch_sub(&taken_count, 1);
		next = wished;
	}
	result = call_sigaction(number, next, &now);
	if (result == 0 && !was_taken && is_own_handler(next)) {
		*wished = now;
		atomic_store(&taken[number].is_taken, true);
		atomic_fetch_add(&taken_count, 1);
	}
	unlock_wishes(&mask);
	if (result == 0 && before)
		*before = now;
	return result;
}

/* True when the signal is the library's: then the wish is noted, and all is
 * done. */
static bool note_wish(int number, const struct sigaction *next,
                      struct sigaction *before)
{
	struct sigaction wish;
	sigset_t mask;
	bool is_ours;

	if (next)
		wish = *next;
	lock_wishes(&mask);
	is_ours = atomic_load(&taken[number].is_taken);
	if (is_ours && before)
		*before = taken[number].wished;
	if (is_ours && next)
		taken[number].wished = wish;
	unlock_wishes(&mask);
	return is_ours;
}

static bool is_taken(int number)
{
	return number > 0 && number < NSIG &&
	       atomic_load(&taken[number].is_taken);
}

int sigaction(int number, const struct sigaction *next,
              struct sigaction *before)
{
	if (number > 0 && number < NSIG && IS_OWN_CALL())
		return own_sigaction(number, next, before);
	if (is_taken(number) && note_wish(number, next, before))
		return 0;
	return call_sigaction(number, next, before);
}

/* With BSD's meaning, which is the C library's default: the handler stays,
 * calls are restarted. */
void (*signal(int number, void (*handler)(int)))(int)
{
	struct sigaction next = { .sa_handler = handler,
		                  .sa_flags = SA_RESTART };
	struct sigaction before;

	if (is_taken(number)) {
		sigemptyset(&next.sa_mask);
		sigaddset(&next.sa_mask, number);
		if (note_wish(number, &next, &before))
			return before.sa_handler;
	}
	if (!real.signal)
		look_around();
	return real.signal(number, handler);
}

/* ---- masks ---- */

/* The set without the library's signals. */
static const sigset_t *without_taken(int how, const sigset_t *set,
                                     sigset_t *copy)
{
	if (!set || how == SIG_UNBLOCK || atomic_load(&taken_count) == 0)
		return set;
	*copy = *set;
	for (int number = 1; number < NSIG; number++)
		if (atomic_load(&taken[number].is_taken))
			sigdelset(copy, number);
	return copy;
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
	sigset_t copy;

	if (!real.pthread_sigmask)
		look_around();
	if (IS_OWN_CALL())
		return real.pthread_sigmask(how, set, before);
	return real.pthread_sigmask(how, without_taken(how, set, &copy),
	                            before);
}

int sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
	sigset_t copy;

	if (!real.sigprocmask)
		look_around();
	if (IS_OWN_CALL())
		return real.sigprocmask(how, set, before);
	return real.sigprocmask(how, without_taken(how, set, &copy), before);
}
