/* SPDX-License-Identifier: MIT */
/* Signals that end programs: passed on, so that profiles can be finished. */
#ifndef PPI_SIGNALS_H
#define PPI_SIGNALS_H

#include <signal.h>
#include <sys/types.h>

/*
 * From now on this process does not die of them: they go to the child, unless
 * a terminal has sent them to it already, or are kept while there is none that
 * was released. A nap of this process ends when one comes or a child ends.
 */
void ppi_catch_signals(void);

/* Keep those signals back for a moment; *before is the thread's mask. */
void ppi_hold_signals(sigset_t *before);
void ppi_let_signals(const sigset_t *before);

/* In a new child, before it executes a command: as if none of that were. Safe
 * after a fork from a program with threads. */
void ppi_uncatch_signals(void);

/* To whom they go; 0: to nobody. Not after the child was reaped: its number
 * may then be another's. */
void ppi_pass_signals_to(pid_t child);

/* The last one that came while they went to nobody; 0: none. */
int ppi_kept_signal(void);

/* As if that one had come. */
void ppi_keep_signal(int number);

/* "SIGTERM", or "signal N" of one without a name. Static or in `room`. */
const char *ppi_signal_name(int number, char room[32]);

#endif
