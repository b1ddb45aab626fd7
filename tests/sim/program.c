/* SPDX-License-Identifier: MIT */
/*
 * Threads, CPUs and works of a simulated machine.
 *
 * All CPUs tick at once. A thread runs until the next tick at least, unless
 * its work ends; then the next one that waits gets the CPU (round robin). A
 * work in the kernel is a row of system calls of KERNEL_NS at most, spread
 * over its time. Each spend begins at another distance from the tick, as work
 * does on a real machine.
 */
#include "tests/sim/program.h"

#include "base/thread.h"
#include "tests/sim/clock.h"
#include "tests/sim/labels.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	TEXT = 0x400000,
	FUNCTION_BYTES = 0x200,
	FUNCTION_STEP = 0x1000,
	KERNEL_NS = 100000
};

/* A thread's part of a spend. */
struct run {
	size_t next;       /* the work it does, or looks for */
	uint64_t done_ns;  /* of that work */
	uint64_t kernel_ns; /* of that, in the kernel */
	uint64_t chunk_ns; /* until it enters or leaves the kernel */
};

static struct {
	const struct sim_machine *machine;
	struct sim_thread threads[FX_THREADS];
	struct run runs[FX_THREADS];
	uint64_t ended_ns;
	uint32_t random;
	unsigned turn;
	const struct fx_work *works;
	size_t count;
	uint64_t *used_ns;
} sim;

/* ---- real threads behind ---- */

static struct sleeper {
	pthread_t thread;
	int64_t tid;
	bool should_end;
} sleepers[FX_THREADS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *sleep_on(void *argument)
{
	struct sleeper *sleeper = argument;

	pthread_mutex_lock(&lock);
	sleeper->tid = ppi_thread_id();
	pthread_cond_broadcast(&changed);
	while (!sleeper->should_end)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static int64_t start_sleeper(struct sleeper *sleeper)
{
	sigset_t all, before;
	int error;

	sleeper->tid = 0;
	sleeper->should_end = false;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	error = pthread_create(&sleeper->thread, NULL, sleep_on, sleeper);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error) {
		fprintf(stderr, "thread: %s\n", strerror(error));
		abort();
	}
	pthread_mutex_lock(&lock);
	while (!sleeper->tid)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	return sleeper->tid;
}

static void end_sleeper(struct sleeper *sleeper)
{
	pthread_mutex_lock(&lock);
	sleeper->should_end = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	pthread_join(sleeper->thread, NULL);
}

/* ---- threads ---- */

void sim_program_reset(const struct sim_machine *machine)
{
	for (unsigned i = 1; i < FX_THREADS; i++)
		sim_program_end(i);
	memset(&sim, 0, sizeof(sim));
	sim.machine = machine;
	sim.random = 1;
	sim.threads[0].tid = ppi_thread_id();
	sim.threads[0].is_alive = true;
}

const struct sim_machine *sim_program_machine(void)
{
	return sim.machine;
}

void sim_program_start(unsigned thread)
{
	memset(&sim.threads[thread], 0, sizeof(sim.threads[thread]));
	sim.threads[thread].tid = start_sleeper(&sleepers[thread]);
	sim.threads[thread].is_alive = true;
}

void sim_program_end(unsigned thread)
{
	struct sim_thread *ended = &sim.threads[thread];

	if (!ended->is_alive)
		return;
	ended->is_alive = false;
	sim.ended_ns += ended->cpu_ns;
	if (sim.machine->ended)
		sim.machine->ended(ended);
	end_sleeper(&sleepers[thread]);
}

struct sim_thread *sim_program_thread(unsigned thread)
{
	return thread < FX_THREADS && sim.threads[thread].is_alive ?
	               &sim.threads[thread] : NULL;
}

struct sim_thread *sim_program_find(int64_t tid)
{
	for (unsigned i = 0; i < FX_THREADS; i++)
		if (sim.threads[i].is_alive && sim.threads[i].tid == tid)
			return &sim.threads[i];
	return NULL;
}

uint64_t sim_program_cpu_ns(void)
{
	uint64_t sum = sim.ended_ns;

	for (unsigned i = 0; i < FX_THREADS; i++)
		if (sim.threads[i].is_alive)
			sum += sim.threads[i].cpu_ns;
	return sum;
}

/* ---- works ---- */

void sim_program_range(unsigned function, uint64_t *start, uint64_t *end)
{
	*start = TEXT + (uint64_t)function * FUNCTION_STEP;
	*end = *start + FUNCTION_BYTES;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t kernel_part(const struct fx_work *work)
{
	return least(work->in_kernel_ns, work->cpu_ns);
}

/* How long the thread stays as it is now: in user mode for its share of the
 * time between two system calls, or inside one. */
static void begin_chunk(unsigned i, bool is_in_kernel)
{
	const struct fx_work *work = &sim.works[sim.runs[i].next];
	struct run *run = &sim.runs[i];
	uint64_t left = work->cpu_ns - run->done_ns;
	uint64_t kernel_left = kernel_part(work) - run->kernel_ns;
	uint64_t calls = (kernel_left + KERNEL_NS - 1) / KERNEL_NS;

	sim.threads[i].is_in_kernel = is_in_kernel;
	if (is_in_kernel)
		run->chunk_ns = least(kernel_left, KERNEL_NS);
	else
		run->chunk_ns = (left - kernel_left) / (calls + 1);
	if (!calls)
		run->chunk_ns = left;
}

/* Somewhere in the function, another place each time. */
static void place(struct sim_thread *thread, unsigned function)
{
	uint64_t start, end;

	sim_program_range(function, &start, &end);
	sim.random = sim.random * 1103515245u + 12345u;
	thread->pc = start + (sim.random >> 16) % (end - start) / 2 * 2;
}

/* The thread's next work that takes time; false when it has none. */
static bool find_work(unsigned i)
{
	struct run *run = &sim.runs[i];

	for (; run->next < sim.count; run->next++) {
		const struct fx_work *work = &sim.works[run->next];

		if (work->thread != i)
			continue;
		sim.used_ns[run->next] = work->cpu_ns;
		if (work->cpu_ns == 0)
			continue;
		run->done_ns = run->kernel_ns = 0;
		sim_label(sim.threads[i].tid, work->set, 0);
		place(&sim.threads[i], work->function);
		begin_chunk(i, false);
		if (run->chunk_ns == 0)
			begin_chunk(i, true);
		return true;
	}
	sim_label(sim.threads[i].tid, NULL, 0);
	return false;
}

/* The thread has come to the end of a chunk: into the kernel or out of it, or
 * on to its next work. */
static void turn_over(unsigned i)
{
	struct run *run = &sim.runs[i];
	const struct fx_work *work = &sim.works[run->next];
	bool was_in_kernel = sim.threads[i].is_in_kernel;

	if (was_in_kernel) {
		sim.threads[i].is_in_kernel = false;
		if (sim.machine->to_user)
			sim.machine->to_user(&sim.threads[i]);
	}
	if (run->done_ns == work->cpu_ns) {
		run->next++;
		if (!find_work(i))
			run->next = sim.count;
		return;
	}
	begin_chunk(i, !was_in_kernel);
	if (run->chunk_ns == 0)
		begin_chunk(i, was_in_kernel);
}

static bool is_runnable(unsigned i)
{
	return sim.threads[i].is_alive && sim.runs[i].next < sim.count;
}

bool sim_program_is_busy(const struct sim_thread *thread)
{
	return is_runnable((unsigned)(thread - sim.threads));
}

/* Who runs now: as many as there are CPUs, from `turn` on. */
static unsigned choose(unsigned *running)
{
	unsigned count = 0;

	for (unsigned k = 0; k < FX_THREADS && count < sim.machine->cpus; k++) {
		unsigned i = (sim.turn + k) % FX_THREADS;

		if (is_runnable(i))
			running[count++] = i;
	}
	return count;
}

static uint64_t until_tick(void)
{
	uint64_t tick = sim.machine->tick_ns;

	return tick - sim_clock_now() % tick;
}

static void run_for(const unsigned *running, unsigned count, uint64_t ns)
{
	for (unsigned k = 0; k < count; k++) {
		struct run *run = &sim.runs[running[k]];
		struct sim_thread *thread = &sim.threads[running[k]];

		thread->cpu_ns += ns;
		run->done_ns += ns;
		run->chunk_ns -= ns;
		if (thread->is_in_kernel)
			run->kernel_ns += ns;
	}
}

static void tick_all(const unsigned *running, unsigned count)
{
	for (unsigned k = 0; k < count; k++) {
		struct sim_thread *thread = &sim.threads[running[k]];

		sim.machine->tick(thread);
		if (!thread->is_in_kernel && sim.machine->to_user)
			sim.machine->to_user(thread);
	}
	if (count)
		sim.turn = running[count - 1] + 1;
}

/* Until something changes: the next tick, the helper thread's waking, the end
 * of a chunk. */
static void step(const unsigned *running, unsigned count)
{
	uint64_t tick = until_tick();
	uint64_t ns = least(tick, sim_clock_until_wake());

	for (unsigned k = 0; k < count; k++)
		ns = least(ns, sim.runs[running[k]].chunk_ns);
	run_for(running, count, ns);
	sim_clock_advance(ns);
	if (ns == tick)
		tick_all(running, count);
	for (unsigned k = 0; k < count; k++)
		if (sim.runs[running[k]].chunk_ns == 0)
			turn_over(running[k]);
}

void sim_program_spend(const struct fx_work *works, size_t count,
                       uint64_t *used_ns)
{
	unsigned running[FX_THREADS], found;

	sim.works = works;
	sim.count = count;
	sim.used_ns = used_ns;
	sim.random = sim.random * 1103515245u + 12345u;
	sim_program_idle((sim.random >> 8) % sim.machine->tick_ns);
	for (unsigned i = 0; i < FX_THREADS; i++) {
		sim.runs[i].next = 0;
		if (!sim.threads[i].is_alive || !find_work(i))
			sim.runs[i].next = count;
	}
	while ((found = choose(running)) > 0)
		step(running, found);
}

void sim_program_idle(uint64_t ns)
{
	sim_clock_advance(ns);
}
