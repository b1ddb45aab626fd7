/* SPDX-License-Identifier: MIT */
/*
 * What a backend that has taken a signal and whoever knows the program's own
 * wish for that signal say to each other. In the preloaded object both are
 * there; elsewhere nobody knows the wish, and `forward` stays NULL.
 */
#ifndef PPI_SIGNAL_SHARE_H
#define PPI_SIGNAL_SHARE_H

#include <signal.h>
#include <stdbool.h>

enum { PPI_SHARED_SIGNALS = 128 };

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
