/* SPDX-License-Identifier: MIT */
/* Signals that end programs: passed on, so that profiles can be finished. */
#include "config.h"

#include "tools/signals.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>

static const struct {
	int number;
	const char *name;
} caught[] = {
	{ SIGINT, "SIGINT" },   { SIGTERM, "SIGTERM" }, { SIGHUP, "SIGHUP" },
	{ SIGQUIT, "SIGQUIT" }, { SIGUSR1, "SIGUSR1" }, { SIGUSR2, "SIGUSR2" },
};
enum { CAUGHT_COUNT = sizeof(caught) / sizeof(caught[0]) };

/* The child that signals are passed to; 0: none. Written while it cannot have
 * been reaped, so that the number is never another process's. */
static volatile sig_atomic_t signalled_child;

/* The last that came while there was no child to pass it to. */
static volatile sig_atomic_t kept_signal;

/* Only so that a nap ends when a child does. */
static void end_nap(int number)
{
	(void)number;
}

/*
 * What this process sets for itself. It must not die of the first two: a
 * reader of its words may go away, and the profile may reach a limit of file
 * sizes; errno tells it then.
 */
static struct {
	int number;
	void (*handler)(int);
	struct sigaction before;
} own[] = {
	{ .number = SIGPIPE, .handler = SIG_IGN },
	{ .number = SIGXFSZ, .handler = SIG_IGN },
	{ .number = SIGCHLD, .handler = end_nap },
};
enum { OWN_COUNT = sizeof(own) / sizeof(own[0]) };

/*
 * Reaches kill() only. A terminal sends its signals to the whole foreground
 * group, the child included: those have si_code SI_KERNEL (sigaction(2)), and
 * need no passing on.
 */
static void pass_on(int number, siginfo_t *info, void *context)
{
	int kept = errno;

	(void)context;
#ifdef SI_KERNEL
	if (info->si_code == SI_KERNEL && signalled_child > 0)
		return;
#else
	(void)info;
#endif
	if (signalled_child > 0)
		kill((pid_t)signalled_child, number);
	else
		kept_signal = number;
	errno = kept;
}

void ppi_catch_signals(void)
{
	struct sigaction action = { .sa_sigaction = pass_on,
		                    .sa_flags = SA_SIGINFO | SA_RESTART };
	struct sigaction now;

	sigemptyset(&action.sa_mask);
	for (int i = 0; i < CAUGHT_COUNT; i++) {
		/* nohup(1) had it ignored: it stays so, here and there */
		if (sigaction(caught[i].number, NULL, &now) == 0 &&
		    now.sa_handler == SIG_IGN)
			continue;
		sigaction(caught[i].number, &action, NULL);
	}
	action.sa_flags = SA_RESTART;
	for (int i = 0; i < OWN_COUNT; i++) {
		action.sa_handler = own[i].handler;
		sigaction(own[i].number, &action, &own[i].before);
	}
}

void ppi_hold_signals(sigset_t *before)
{
	sigset_t ours;

	sigemptyset(&ours);
	for (int i = 0; i < CAUGHT_COUNT; i++)
		sigaddset(&ours, caught[i].number);
	pthread_sigmask(SIG_BLOCK, &ours, before);
}

void ppi_let_signals(const sigset_t *before)
{
	pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* Handlers go at an exec, but the child may be told to end before; what is
 * ignored would stay so. */
void ppi_uncatch_signals(void)
{
	struct sigaction now;

	for (int i = 0; i < CAUGHT_COUNT; i++)
		if (sigaction(caught[i].number, NULL, &now) == 0 &&
		    now.sa_flags & SA_SIGINFO)
			signal(caught[i].number, SIG_DFL);
	for (int i = 0; i < OWN_COUNT; i++)
		sigaction(own[i].number, &own[i].before, NULL);
}

void ppi_pass_signals_to(pid_t child)
{
	signalled_child = (sig_atomic_t)child;
}

int ppi_kept_signal(void)
{
	return (int)kept_signal;
}

void ppi_keep_signal(int number)
{
	kept_signal = number;
}

const char *ppi_signal_name(int number, char room[32])
{
	static const struct {
		int number;
		const char *name;
	} others[] = {
		{ SIGKILL, "SIGKILL" }, { SIGSEGV, "SIGSEGV" },
		{ SIGABRT, "SIGABRT" }, { SIGBUS, "SIGBUS" },
		{ SIGFPE, "SIGFPE" },   { SIGILL, "SIGILL" },
		{ SIGPIPE, "SIGPIPE" }, { SIGALRM, "SIGALRM" },
		{ SIGTRAP, "SIGTRAP" }, { SIGXCPU, "SIGXCPU" },
		{ SIGXFSZ, "SIGXFSZ" }, { SIGPROF, "SIGPROF" },
	};

	for (int i = 0; i < CAUGHT_COUNT; i++)
		if (caught[i].number == number)
			return caught[i].name;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (others[i].number == number)
			return others[i].name;
	snprintf(room, 32, "signal %d", number);
	return room;
}
