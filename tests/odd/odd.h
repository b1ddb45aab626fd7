/* SPDX-License-Identifier: MIT */
/*
 * A program of many odd habits, one a run: odd NAME. Each prints facts that
 * are the same in every run, and uses CPU time meanwhile, so that a profiler
 * which does not keep out of its way is seen in what it prints, in its exit
 * status, or because it never ends. It knows nothing of profilers.
 */
#ifndef ODD_H
#define ODD_H

#include <stdbool.h>
#include <stdint.h>

struct odd_habit {
	const char *name;
	void (*run)(void);
};

extern const struct odd_habit odd_signals[], odd_processes[], odd_threads[],
	odd_limits[];

/* Use so much CPU time of the calling thread. */
void odd_burn(unsigned ms);

/* The same without a clock, which a sandbox may not have. */
void odd_spin(void);

/* This program again with another habit; it does not return. */
void odd_exec(const char *habit);

/* A file's path in the folder that is named by $ODD_FOLDER. */
const char *odd_path(const char *name);

/* Words and a number, on standard output at once. */
void odd_say(const char *words, long number);

/* How a child ended: its status, or 1000 plus the signal. */
long odd_wait(long pid);

#endif
