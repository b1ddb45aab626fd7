/* SPDX-License-Identifier: MIT */
/*
 * A simulated Linux behind the timer backend's seam: POSIX timers on the CPU
 * clocks of threads, looked at on the tick, told by signal to the thread.
 *
 * [cpu-timers] is linux/kernel/time/posix-cpu-timers.c, [timers] is
 * linux/kernel/time/posix-timers.c, both of Linux 6.12; [man] is
 * timer_create(2), timer_settime(2); [run] was observed on Linux 6.18.
 */
#ifndef TIMER_SIM_H
#define TIMER_SIM_H

#include "backends/timer/timer_kernel.h"
#include "tests/sim/faults.h"
#include "tests/sim/program.h"

enum { TIMER_SIM_TICK_NS = 4000000, TIMER_SIM_CPUS = 2 };

extern const struct timer_kernel timer_sim_kernel;
extern struct sim_faults timer_sim_faults;

/* A fresh machine; `every` is called each 10 ms of its time. */
void timer_sim_reset(void (*every)(void));

/* RLIMIT_SIGPENDING, as a number of timers. */
void timer_sim_limit(unsigned timers);

/* A signal that another process sends to this one (kill(2)). */
void timer_sim_kill(int signo);

/* Timers and signal actions that are there. */
size_t timer_sim_held(void);
size_t timer_sim_timers(void);

#endif
