/* SPDX-License-Identifier: MIT */
/*
 * A program on a simulated machine: threads that spend known CPU time in known
 * functions, on a few CPUs with a timer tick. What a tick does is the
 * simulated kernel's.
 */
#ifndef SIM_PROGRAM_H
#define SIM_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/conform/fixture.h"

/*
 * Thread 0 is the caller's. Each other has a real one behind it that sleeps,
 * so that its id is one of this process for all who ask.
 */
struct sim_thread {
	int64_t tid;
	bool is_alive;
	bool blocks_signals;
	uint64_t cpu_ns;
	uint64_t pc;       /* in user mode; where a system call returns to */
	bool is_in_kernel;
};

struct sim_machine {
	unsigned cpus;
	uint64_t tick_ns;
	/* What happens; NULL where the kernel does nothing then, except for tick. */
	/* On the CPU that the thread runs on, the timer interrupt. */
	void (*tick)(struct sim_thread *thread);
	/* The thread is about to run in user mode: time for its signals. */
	void (*to_user)(struct sim_thread *thread);
	/* It has ended. */
	void (*ended)(struct sim_thread *thread);
};

/* One thread, which has used no time; threads of before are ended. */
void sim_program_reset(const struct sim_machine *machine);
const struct sim_machine *sim_program_machine(void);

void sim_program_start(unsigned thread);
void sim_program_end(unsigned thread);

/* By number, by id; NULL when there is none. */
struct sim_thread *sim_program_thread(unsigned thread);
struct sim_thread *sim_program_find(int64_t tid);

/* It has work that is not done: it runs, or waits for a CPU. */
bool sim_program_is_busy(const struct sim_thread *thread);

/* CPU time of all threads, also those that have ended. */
uint64_t sim_program_cpu_ns(void);

/* As fixture.h has it: all works, then time without any. */
void sim_program_spend(const struct fx_work *works, size_t count,
                       uint64_t *used_ns);
void sim_program_idle(uint64_t ns);
void sim_program_range(unsigned function, uint64_t *start, uint64_t *end);

#endif
