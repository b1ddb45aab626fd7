/* SPDX-License-Identifier: MIT */
/* Simulated profil and pcsample: ticks, what is owed, what is written. */
#include "tests/sim/profil_sim.h"

#include <limits.h>
#include <string.h>

/* ---- memory ---- */

static bool can_write(const struct psim *sim, uintptr_t at, size_t bytes)
{
	if (at < 4096)
		return false;
	for (size_t i = 0; i < sim->bad_count; i++)
		if (at + bytes > sim->bad[i].start && at < sim->bad[i].end)
			return false;
	return true;
}

static uint16_t load(const struct psim *sim, uintptr_t at)
{
	uint16_t value;

	psim_load(sim, at, &value, sizeof(value));
	return value;
}

static void store(const struct psim *sim, uintptr_t at, uint16_t value)
{
	psim_store(sim, at, &value, sizeof(value));
}

/* ---- which bin ---- */

static uint64_t distance_of(const struct psim *sim, uint64_t pc)
{
	uint64_t d = pc - sim->offset;

	return sim->pointer_bits == 32 ? (uint32_t)d : d;
}

/* The byte offset of the bin; false when out of range. */
static bool find_bsd(const struct psim *sim, uint64_t pc, bool at_tick,
                     uint64_t *byte)
{
	uint32_t i = (uint32_t)(distance_of(sim, pc) * sim->scale >> 16) &
	             ~(uint32_t)1;

	if (pc < sim->offset)
		return false;
	if (at_tick && sim->os->signed_at_tick && (int32_t)i < 0)
		return false; /* an int, widened to u_long */
	*byte = i;
	return i < sim->size;
}

static bool find_split(const struct psim *sim, uint64_t pc, uint64_t *byte)
{
	uint64_t d = distance_of(sim, pc);

	if (pc < sim->offset)
		return false;
	*byte = 0;
	if (sim->scale == 2)
		return true; /* the size is not looked at */
	*byte = (d >> 16) * sim->scale + ((d & 0xffff) * sim->scale >> 16);
	if (*byte >= sim->size)
		return false;
	*byte &= ~(uint64_t)1;
	return true;
}

static bool find_halved(const struct psim *sim, uint64_t pc, uint64_t *byte)
{
	uint64_t i = distance_of(sim, pc) / 2;

	if (sim->pointer_bits == 32)
		i = (uint32_t)(i * sim->scale / 65536);
	else
		i = i / 65536 * sim->scale + i % 65536 * sim->scale / 65536;
	*byte = i * 2;
	return i < sim->size / 2;
}

static bool find_bin(const struct psim *sim, uint64_t pc, bool at_tick,
                     uint64_t *byte)
{
	switch (sim->os->index) {
	case PSIM_INDEX_BSD:
		return find_bsd(sim, pc, at_tick, byte);
	case PSIM_INDEX_SPLIT:
		return find_split(sim, pc, byte);
	default:
		return find_halved(sim, pc, byte);
	}
}

/* ---- writing ---- */

static void stop_on_fault(struct psim *sim)
{
	if (sim->os->fault_kills)
		sim->is_dead = true;
	sim->is_on = false;
	sim->scale = 0;
}

static void tell(struct psim *sim, uint64_t pc, uint64_t ticks)
{
	sim->written_ticks += ticks;
	if (sim->on_write)
		sim->on_write(sim->context, pc, ticks);
}

/* addupc_task, or the handler of glibc. */
static void add_to_bin(struct psim *sim, uint64_t pc, uint64_t ticks)
{
	uint64_t byte;
	uintptr_t at;
	uint16_t sum;

	if (!sim->is_on || ticks == 0 || !find_bin(sim, pc, false, &byte))
		return;
	at = sim->base + (uintptr_t)byte;
	if (!can_write(sim, at, sizeof(sum))) {
		stop_on_fault(sim);
		return;
	}
	sum = (uint16_t)(load(sim, at) + ticks);
	if (sim->os->stops_at_32767 && sum > SHRT_MAX) {
		stop_on_fault(sim);
		return;
	}
	store(sim, at, sum);
	tell(sim, pc, ticks);
}

/* illumos profil_tick with pr_scale 1. */
static void add_samples(struct psim *sim, uint64_t pc, uint64_t ticks)
{
	size_t bytes = sim->pointer_bits / 8;

	while (ticks--) {
		if (sim->samples == sim->size ||
		    !can_write(sim, sim->base, bytes)) {
			sim->is_on = false;
			sim->scale = 0;
			return;
		}
		if (bytes == 4)
			psim_store(sim, sim->base, &(uint32_t){ (uint32_t)pc },
			           bytes);
		else
			psim_store(sim, sim->base, &pc, bytes);
		sim->base += bytes;
		sim->samples++;
		tell(sim, pc, 1);
	}
}

static void bill(struct psim *sim, uint64_t pc, uint64_t ticks)
{
	if (sim->is_on && sim->os->has_pcsample && sim->scale == 1)
		add_samples(sim, pc, ticks);
	else
		add_to_bin(sim, pc, ticks);
}

void psim_update_begin(struct psim *sim, unsigned thread, uint64_t pc,
                       unsigned ticks)
{
	struct psim_thread *t = &sim->threads[thread];
	uint64_t byte;

	if (!sim->is_on || !find_bin(sim, pc, false, &byte))
		return;
	t->update_at = sim->base + (uintptr_t)byte;
	t->update_value = (uint16_t)(load(sim, t->update_at) + ticks);
	t->is_updating = true;
}

void psim_update_finish(struct psim *sim, unsigned thread)
{
	struct psim_thread *t = &sim->threads[thread];

	if (t->is_updating)
		store(sim, t->update_at, t->update_value);
	t->is_updating = false;
}

/* ---- ticks ---- */

/* addupc_intr: only the address and a number are kept until the AST. */
static void owe(struct psim *sim, unsigned thread, uint64_t pc, unsigned n)
{
	struct psim_owed *owed = &sim->threads[thread].owed;
	bool is_summed = sim->os->pending == PSIM_THREAD_SUMMED ||
	                 sim->os->pending == PSIM_PROCESS_SUMMED;
	bool is_a_cpus = sim->os->pending == PSIM_PROCESS_FLAG_A_CPU;
	uint64_t byte;

	if (sim->os->pending == PSIM_PROCESS_SUMMED || is_a_cpus)
		owed = &sim->process_owed;
	if (!find_bin(sim, pc, true, &byte))
		return;
	if (is_a_cpus ? sim->threads[thread].cpu_owes :
	                owed->is_set && !is_summed)
		sim->lost_ticks += owed->ticks;
	sim->threads[thread].cpu_owes = is_a_cpus;
	owed->ticks = (owed->is_set && is_summed ? owed->ticks : 0) + n;
	owed->pc = pc;
	owed->is_set = true;
}

/* As if another tick came before this one was written. */
static bool lose(struct psim *sim, unsigned n)
{
	if (sim->lose_ticks == 0)
		return false;
	sim->lose_ticks--;
	sim->lost_ticks += n;
	return true;
}

void psim_tick(struct psim *sim, unsigned thread, enum psim_mode mode,
               uint64_t pc, unsigned n)
{
	const struct psim_os *os = sim->os;

	if (!sim->is_on || os->stat_clock_ticks ||
	    (os->arms_at_switch && !sim->threads[thread].is_armed) ||
	    lose(sim, n))
		return;
	if (os->pending == PSIM_OWED)
		sim->threads[thread].owed_number += n;
	else if (mode == PSIM_USER || os->kernel_tick == PSIM_USER_FRAME)
		owe(sim, thread, pc, n);
}

/* The kernel looks at ITIMER_PROF: one interval a look, one signal pending. */
static void look_at_timer(struct psim *sim)
{
	if (sim->timer_every_ns == 0 ||
	    sim->process_cpu_ns < sim->timer_at_ns)
		return;
	sim->timer_at_ns += sim->timer_every_ns;
	if (sim->action == PSIM_IGNORED || lose(sim, 1))
		return;
	sim->lost_ticks += sim->signal_is_pending;
	sim->signal_is_pending = true;
}

void psim_stat_tick(struct psim *sim, unsigned thread, enum psim_mode mode,
                    uint64_t pc, unsigned n)
{
	const struct psim_os *os = sim->os;

	if (os->pending == PSIM_SIGNAL)
		look_at_timer(sim);
	else if (mode == PSIM_KERNEL)
		sim->threads[thread].stat_ticks += n;
	else if (os->stat_clock_ticks && sim->is_on && !lose(sim, n))
		owe(sim, thread, pc, n);
}

/* ---- on the way back to user mode ---- */

static void write_owed(struct psim *sim, struct psim_owed *owed)
{
	if (owed->is_set)
		add_to_bin(sim, owed->pc, owed->ticks);
	*owed = (struct psim_owed){ 0 };
}

static void charge_kernel_stay(struct psim *sim, uint64_t stat_ticks,
                               uint64_t pc)
{
	if (sim->os->kernel_tick == PSIM_STAT_LUMP)
		add_to_bin(sim, pc, stat_ticks * (sim->prof_hz / sim->stat_hz));
	else if (sim->os->kernel_tick == PSIM_MICROSECONDS)
		add_to_bin(sim, pc, stat_ticks * (1000000u / sim->stat_hz));
}

static void take_signal(struct psim *sim, uint64_t pc)
{
	uint64_t byte;

	if (!sim->signal_is_pending)
		return;
	sim->signal_is_pending = false;
	if (sim->action == PSIM_DEFAULT)
		sim->is_dead = true;
	if (sim->action != PSIM_PROFIL)
		return;
	if (!sim->is_on && find_bin(sim, pc, false, &byte))
		sim->is_dead = true; /* samples is NULL, nsamples is not 0 */
	else
		add_to_bin(sim, pc, 1);
}

/* ADDUPROF of DragonFly: the flag is the CPU's, what it stands for the
 * process's, which stays as it is. */
static void write_process(struct psim *sim, struct psim_thread *t)
{
	if (sim->os->pending != PSIM_PROCESS_FLAG_A_CPU) {
		write_owed(sim, &sim->process_owed);
	} else if (t->cpu_owes) {
		add_to_bin(sim, sim->process_owed.pc, sim->process_owed.ticks);
		t->cpu_owes = false;
	}
}

static void go_to_user(struct psim *sim, unsigned thread, uint64_t pc,
                       bool looks_at_owed)
{
	struct psim_thread *t = &sim->threads[thread];
	uint64_t stat_ticks = t->stat_ticks, number = t->owed_number;

	t->stat_ticks = 0;
	if (sim->os->pending == PSIM_SIGNAL) {
		take_signal(sim, pc);
		return;
	}
	if (looks_at_owed) {
		t->owed_number = 0;
		if (number)
			bill(sim, pc, number);
	}
	if (sim->is_on || !sim->os->keeps_owed)
		write_owed(sim, &t->owed);
	write_process(sim, t);
	if (stat_ticks)
		charge_kernel_stay(sim, stat_ticks, pc);
}

void psim_return_to_user(struct psim *sim, unsigned thread, uint64_t pc)
{
	go_to_user(sim, thread, pc, true);
}

void psim_return_from_call(struct psim *sim, unsigned thread, uint64_t pc)
{
	go_to_user(sim, thread, pc, sim->is_on);
}
