/* SPDX-License-Identifier: MIT */
/*
 * A simulated Unix behind the itimer backend's seam: ITIMER_PROF on CPU time
 * as it is charged, and one pending SIGPROF for all threads.
 *
 * [cpu-timers] is linux/kernel/time/posix-cpu-timers.c, [signal] is
 * linux/kernel/signal.c, [cputime] is linux/kernel/sched/cputime.c, all of
 * Linux 6.12; [netbsd] is sys/kern/kern_sig.c of NetBSD; [man] is setitimer(2).
 */
#ifndef ITIMER_SIM_H
#define ITIMER_SIM_H

#include "backends/itimer/itimer_kernel.h"
#include "tests/sim/faults.h"
#include "tests/sim/program.h"

enum { ITIMER_SIM_TICK_NS = 4000000, ITIMER_SIM_CPUS = 2 };

extern const struct itimer_kernel itimer_sim_kernel;
extern struct sim_faults itimer_sim_faults;

/* A fresh machine; `every` is called each 10 ms of its time. */
void itimer_sim_reset(void (*every)(void));

/* A system that does not list threads and keeps their clocks to themselves. */
void itimer_sim_hide_threads(void);

/* NetBSD: threads are hidden, and signals go to one thread as long as it is
 * busy ([netbsd] sigpost: the first that can take them). */
void itimer_sim_be_netbsd(void);

/* CPU time that the process is charged for no thread of the program, as for a
 * helper thread, and whether a tick meets that thread. */
void itimer_sim_charge(uint64_t ns, bool is_at_tick);

/* Ticks meet thread 0 until a SIGPROF is pending, and it is taken off its CPU
 * before it comes to its signals. */
void itimer_sim_tick_in_vain(void);

/* A thread has run for 1 ms when the timer is set again, and a tick of an earlier
 * one comes to it. */
void itimer_sim_tick_at_next_set(void);

/* SIGPROF from another process (kill(2)). */
void itimer_sim_kill(void);

/* setitimer(2) as the program itself calls it. */
void itimer_sim_set(uint64_t every_ns);
/* And the same right after the backend's next look at the timer. */
void itimer_sim_set_after_get(uint64_t every_ns);
uint64_t itimer_sim_every(void);
bool itimer_sim_is_pending(void);

/* Signals that came to threads that did not run. */
unsigned itimer_sim_wakings(void);

/* Timers that run, and signal actions. */
size_t itimer_sim_held(void);

#endif
