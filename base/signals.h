/* SPDX-License-Identifier: MIT */
/* Signals as users write them: 12, USR2, SIGUSR2, RTMIN+3; and those that a backend
 * shares with the program. */
#ifndef PPI_SIGNALS_H
#define PPI_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* The number of `length` characters, in upper or lower case; 0: this system
 * has no such signal. */
int ppi_signal_number(const char *text, size_t length);

/* Why a signal is not to be had for a purpose of ours, to follow its name;
 * NULL: the program can spare it. */
const char *ppi_signal_unusable(int number);

/* ---- shared with the program ---- */

enum { PPI_SHARED_SIGNALS = 128 };

/* What a backend that has taken a signal and the code that knows the program's own
 * wish for that signal say to each other. */
struct ppi_signal_share {
	/* Handle a signal that is none of ours as the program's own action
	 * says. False: by default. Async-signal-safe; may not return, for the
	 * program's handler may jump out. */
	bool (*forward)(int signo, siginfo_t *info, void *context);
	/* Around an exec: what the next program inherits is as the program
	 * wishes; and is not when the exec failed. */
	void (*set_aside)(bool is_aside);
	/* Set by a backend: whether a signal is a tick of its timers.
	 * Async-signal-safe. */
	bool (*is_tick[PPI_SHARED_SIGNALS])(int signo, const siginfo_t *info);
};

extern struct ppi_signal_share ppi_signal_share;

#endif
