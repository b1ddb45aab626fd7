/* SPDX-License-Identifier: MIT */
/* Signal actions of a simulated process, and the calling of handlers. */
#ifndef SIM_SIGNALS_H
#define SIM_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "tests/sim/program.h"

enum { SIM_SIGNALS = 65, SIM_RT_FIRST = 34, SIM_RT_LAST = 64 };

void sim_signals_reset(void);

/* sigaction(2). */
int sim_signals_action(int signo, const struct sigaction *next,
                       struct sigaction *before);

/* Actions that are not the default. */
size_t sim_signals_held(void);

/*
 * The thread gets the signal: its handler is called, with a frame that shows
 * where the thread is; nothing happens; or the process ends, which is kept.
 */
void sim_signals_deliver(struct sim_thread *thread, siginfo_t *info);

/* raise(3) of the thread whose handler runs: delivered when it returns. */
int sim_signals_raise(int signo);

/* Forwarding to the program's own handler, as base/signals.h: NULL, as
 * where nobody knows of one, or a handler that is called. */
void sim_signals_set_forward(void (*handler)(int signo));
bool sim_signals_forward(int signo);

/* The thread whose handler runs now, or the one of the caller. */
struct sim_thread *sim_signals_current(void);

/* The signal that ended the process, 0 for none. */
int sim_signals_death(void);

#endif
