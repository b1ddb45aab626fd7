/* SPDX-License-Identifier: MIT */
/* The library's signals and the program's wishes for them. */
#ifndef PPI_PRELOAD_SIGNALS_H
#define PPI_PRELOAD_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#ifndef NSIG
#define NSIG 65
#endif

/* ---- signals.c ---- */

/* Whether the caller of a wrapper is the library in this object. */
bool ppi_is_own_code(uintptr_t address);
#define PPI_IS_OWN_CALL() \
	ppi_is_own_code((uintptr_t)__builtin_return_address(0))

/* The next definition of a function, as a pointer to it in *function. */
void ppi_next_function(const char *name, void *function);

/* Whether the library has this signal, or any, in this process. In a child
 * that has not called ppi_signals_adopt it has none. */
bool ppi_signal_is_taken(int number);
bool ppi_any_signal_is_taken(void);

/* sigaction(2) as the program calls it. */
int ppi_program_sigaction(int number, const struct sigaction *next,
                          struct sigaction *before);

/* Give the signal back to the program, whose wish is in force then: `stop` is
 * called first, to end the ticks. The library finds it displaced. */
void ppi_signal_hand_over(int number, void (*stop)(void));

/* From now on a signal that is taken goes back to the program when it puts a
 * handler of its own there; and whether it has. One signal of a process. */
void ppi_signal_give_up_on_wish(int number);
bool ppi_signal_is_given_up(int number);

/* In a forked child: adopt before the library's copies are closed; lend before
 * it opens anew, so that it finds the signals free that it had, whatever the
 * program wishes; settle at the end: the wishes are in force again. */
void ppi_signals_adopt(void);
void ppi_signals_lend(void);
void ppi_signals_settle(void);

/* setitimer(2) and getitimer(2) as the program calls them. */

struct itimerval;
int ppi_program_setitimer(int which, const struct itimerval *next,
                          struct itimerval *before);
int ppi_program_getitimer(int which, struct itimerval *now);

/* ---- masks.c ---- */

/* The calling thread's wish. */
bool ppi_mask_wishes_blocked(int number);

/* sigprocmask(2) as the program calls it; -1 with errno. */
int ppi_program_mask(int how, const sigset_t *set, sigset_t *before);

/* The mask for real. */
void ppi_real_mask(int how, const sigset_t *set, sigset_t *before);

/* Keep a signal pending that came to a thread which wishes it blocked: it is
 * blocked there from now on, and so are our ticks. For signal handlers. */
void ppi_mask_hold(int number, siginfo_t *info, void *context);

/* What this thread has blocked of taken signals, such as a program does that was
 * executed with signals blocked: from now on it wishes it only. */
void ppi_mask_adopt(void);

/* Block in this thread what it wishes blocked, or all taken signals; or no
 * taken signal, but those that are held. */
void ppi_mask_block_wished(void);
void ppi_mask_block_taken(void);
void ppi_mask_free_taken(void);

#endif
