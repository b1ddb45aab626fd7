/* SPDX-License-Identifier: MIT */
/*
 * Calls for masks and handlers that are older than sigaction(2): BSD's, which
 * dash(1) mixes with sigprocmask(2), and System V's. The C library has them by
 * system calls of its own, so that the program's wish would be seen by halves.
 */
#include "config.h"

#include "tools/preload/signals.h"


/* ---- BSD's: a bit for each of the first signals ---- */

static sigset_t set_of(int mask)
{
	unsigned bits = (unsigned)mask;
	sigset_t set;

	sigemptyset(&set);
	for (int i = 1; i <= 32; i++)
		if (bits & 1u << (i - 1))
			sigaddset(&set, i);
	return set;
}

static int change(int how, int mask)
{
	sigset_t next = set_of(mask), before;
	unsigned bits = 0;

	if (ppi_program_mask(how, &next, &before) != 0)
		return -1;
	for (int i = 1; i <= 32; i++)
		if (sigismember(&before, i) == 1)
			bits |= 1u << (i - 1);
	return (int)bits;
}

int sigblock(int mask);
int sigblock(int mask)
{
	return change(SIG_BLOCK, mask);
}

int sigsetmask(int mask);
int sigsetmask(int mask)
{
	return change(SIG_SETMASK, mask);
}

int siggetmask(void);
int siggetmask(void)
{
	return change(SIG_BLOCK, 0);
}

/* ---- System V's ---- */

static int change_one(int how, int number, sigset_t *before)
{
	sigset_t set;

	sigemptyset(&set);
	if (sigaddset(&set, number) != 0)
		return -1;
	return ppi_program_mask(how, &set, before);
}

int sighold(int number);
int sighold(int number)
{
	return change_one(SIG_BLOCK, number, NULL);
}

int sigrelse(int number);
int sigrelse(int number)
{
	return change_one(SIG_UNBLOCK, number, NULL);
}

int sigignore(int number);
int sigignore(int number)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	sigemptyset(&ignore.sa_mask);
	return ppi_program_sigaction(number, &ignore, NULL);
}

#ifdef SIG_HOLD
void (*sigset(int number, void (*handler)(int)))(int);
void (*sigset(int number, void (*handler)(int)))(int)
{
	bool is_held = handler == SIG_HOLD;
	struct sigaction next = { .sa_handler = handler }, before;
	sigset_t mask;

	sigemptyset(&next.sa_mask);
	if (ppi_program_sigaction(number, is_held ? NULL : &next, &before) != 0 ||
	    change_one(is_held ? SIG_BLOCK : SIG_UNBLOCK, number, &mask) != 0)
		return SIG_ERR;
	return sigismember(&mask, number) == 1 ? SIG_HOLD : before.sa_handler;
}
#endif
