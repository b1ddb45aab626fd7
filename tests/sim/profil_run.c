/* SPDX-License-Identifier: MIT */
/* Virtual time: clocks of each CPU against what its thread is doing. */
#include "tests/sim/profil_run.h"

#include <stdlib.h>
#include <string.h>

/* One stretch in one mode: a work is some of them, user and kernel in turn. */
struct stretch {
	uint64_t left_ns;
	enum psim_mode mode;
};

struct runner {
	unsigned thread;
	const struct prun_work *works;
	size_t count, next;       /* next work to look at */
	const struct prun_work *work;
	unsigned stays_left;      /* in the kernel, of this work */
	struct stretch now;
	uint64_t user_each_ns, kernel_each_ns;
	uint64_t prof_at_ns, stat_at_ns;
	bool is_done;
};

enum { STAY_NS = 3000000 };

static uint32_t next_random(struct prun *run)
{
	run->seed = run->seed * 1664525u + 1013904223u;
	return run->seed >> 8;
}

static uint64_t pc_of(struct prun *run, const struct prun_work *work)
{
	return work->start + next_random(run) % (work->end - work->start);
}

/* CPUs are not in step: each clock has a phase of its own. */
static uint64_t next_edge(uint64_t now_ns, unsigned hz, unsigned cpu)
{
	uint64_t period = 1000000000u / hz;
	uint64_t phase = period * (cpu % 7) / 7;

	return (now_ns + period - phase) / period * period + phase;
}

void prun_init(struct prun *run, struct psim *sim, uint32_t seed)
{
	memset(run, 0, sizeof(*run));
	run->sim = sim;
	run->seed = seed;
	run->now_ns = 1000000000u;
}

/* ---- works to stretches ---- */

static void begin_work(struct runner *r, const struct prun_work *work)
{
	uint64_t user_ns = work->cpu_ns - work->kernel_ns;

	r->work = work;
	r->stays_left = (unsigned)((work->kernel_ns + STAY_NS - 1) / STAY_NS);
	r->user_each_ns = r->stays_left ? user_ns / r->stays_left : user_ns;
	r->kernel_each_ns = r->stays_left ? work->kernel_ns / r->stays_left : 0;
	r->now.mode = PSIM_USER;
	r->now.left_ns = r->user_each_ns;
	if (r->stays_left) /* what division left over */
		r->now.left_ns += user_ns % r->stays_left +
		                  work->kernel_ns % r->stays_left;
}

static void begin_next_work(struct runner *r)
{
	while (r->next < r->count && r->works[r->next].thread != r->thread)
		r->next++;
	if (r->next == r->count) {
		r->is_done = true;
		return;
	}
	begin_work(r, &r->works[r->next++]);
}

static void end_stretch(struct prun *run, struct runner *r)
{
	if (r->now.mode == PSIM_KERNEL) {
		psim_return_from_call(run->sim, r->thread,
		                      pc_of(run, r->work));
		r->now.mode = PSIM_USER;
		r->now.left_ns = r->stays_left ? r->user_each_ns : 0;
	} else if (r->stays_left) {
		r->stays_left--;
		r->now.mode = PSIM_KERNEL;
		r->now.left_ns = r->kernel_each_ns;
	} else {
		begin_next_work(r);
	}
}

/* ---- events ---- */

static void tick(struct prun *run, struct runner *r)
{
	uint64_t pc = pc_of(run, r->work);

	if (run->now_ns == r->stat_at_ns) {
		psim_stat_tick(run->sim, r->thread, r->now.mode, pc, 1);
		r->stat_at_ns = next_edge(run->now_ns, run->sim->stat_hz,
		                          r->thread);
	}
	if (run->now_ns == r->prof_at_ns) {
		psim_tick(run->sim, r->thread, r->now.mode, pc, 1);
		r->prof_at_ns = next_edge(run->now_ns, run->sim->prof_hz,
		                          r->thread);
	}
	/* an interrupt of user mode ends with a return to user mode */
	if (r->now.mode == PSIM_USER)
		psim_return_to_user(run->sim, r->thread, pc);
}

/* The runners that have work; done ones are taken out. */
struct prun_crowd {
	struct runner runners[PSIM_THREADS];
	size_t count;
};

static uint64_t earliest(const struct prun *run, const struct prun_crowd *crowd)
{
	uint64_t at = run->every ? run->every_at_ns : UINT64_MAX;

	for (size_t i = 0; i < crowd->count; i++) {
		const struct runner *r = &crowd->runners[i];

		if (run->now_ns + r->now.left_ns < at)
			at = run->now_ns + r->now.left_ns;
		if (r->prof_at_ns < at)
			at = r->prof_at_ns;
		if (r->stat_at_ns < at)
			at = r->stat_at_ns;
	}
	return at;
}

static void spend(struct prun *run, struct prun_crowd *crowd, uint64_t ns)
{
	for (size_t i = 0; i < crowd->count; i++) {
		crowd->runners[i].now.left_ns -= ns;
		run->sim->process_cpu_ns += ns;
		if (crowd->runners[i].thread == PRUN_HELPER)
			run->helper_cpu_ns += ns;
	}
	run->now_ns += ns;
}

static void call_every(struct prun *run)
{
	if (!run->every || run->now_ns < run->every_at_ns)
		return;
	run->every_at_ns = run->now_ns + run->every_ns;
	run->helper_slept_ns = run->helper_cpu_ns;
	run->every(run->context);
}

static void settle(struct prun *run, struct prun_crowd *crowd)
{
	size_t kept = 0;

	for (size_t i = 0; i < crowd->count; i++) {
		struct runner *r = &crowd->runners[i];

		if (run->now_ns == r->prof_at_ns ||
		    run->now_ns == r->stat_at_ns)
			tick(run, r);
		while (!r->is_done && r->now.left_ns == 0)
			end_stretch(run, r);
		if (!r->is_done && kept++ < i)
			crowd->runners[kept - 1] = *r;
	}
	crowd->count = kept;
}

static void add_runner(struct prun *run, struct prun_crowd *crowd,
                       const struct prun_work *works, size_t count,
                       unsigned thread)
{
	struct runner *r = &crowd->runners[crowd->count++];

	*r = (struct runner){ .works = works, .count = count,
		              .thread = thread };
	psim_switch(run->sim, thread);
	r->prof_at_ns = next_edge(run->now_ns, run->sim->prof_hz, thread);
	r->stat_at_ns = next_edge(run->now_ns, run->sim->stat_hz, thread);
	begin_next_work(r);
	while (!r->is_done && r->now.left_ns == 0)
		end_stretch(run, r);
	if (r->is_done)
		crowd->count--;
}

void prun_works(struct prun *run, const struct prun_work *works, size_t count)
{
	bool is_there[PSIM_THREADS] = { false };
	struct prun_crowd crowd;

	crowd.count = 0;
	run->crowd = &crowd;
	for (size_t i = 0; i < count; i++) {
		if (!is_there[works[i].thread])
			add_runner(run, &crowd, works, count,
			           works[i].thread);
		is_there[works[i].thread] = true;
	}
	while (crowd.count) {
		uint64_t at = earliest(run, &crowd);

		if (at > run->now_ns)
			spend(run, &crowd, at - run->now_ns);
		settle(run, &crowd);
		call_every(run);
	}
	run->crowd = NULL;
}

static bool runs(const struct prun_crowd *crowd, unsigned thread)
{
	for (size_t i = 0; i < crowd->count; i++)
		if (crowd->runners[i].thread == thread)
			return true;
	return false;
}

void prun_helper_works(struct prun *run, const struct prun_work *work)
{
	struct prun_crowd alone = { .count = 0 };
	struct prun_crowd *crowd = run->crowd ? run->crowd : &alone;
	void (*every)(void *context) = run->every;

	run->every = NULL;
	add_runner(run, crowd, work, 1, PRUN_HELPER);
	while (runs(crowd, PRUN_HELPER)) {
		uint64_t at = earliest(run, crowd);

		if (at > run->now_ns)
			spend(run, crowd, at - run->now_ns);
		settle(run, crowd);
	}
	run->every = every;
}

void prun_idle(struct prun *run, uint64_t ns)
{
	uint64_t end_ns = run->now_ns + ns;

	while (run->every && run->every_at_ns <= end_ns) {
		if (run->every_at_ns > run->now_ns)
			run->now_ns = run->every_at_ns;
		call_every(run);
	}
	run->now_ns = end_ns;
}
