/* SPDX-License-Identifier: MIT */
/* Harvests: in time, weighed by the CPU clock, and made into records. */
#include "backends/profil/profil_state.h"
#include "backends/shared/pcgive.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* ---- CPU time ---- */

static uint64_t process_ns(const struct ppi_backend_session *bs)
{
	const struct profil_kernel *kernel = profil_kernel_of(bs);
	uint64_t ns = profil_state_of(bs)->clock.process_ns;

	kernel->process_cpu(kernel->self, &ns);
	return ns;
}

static uint64_t helper_ns(const struct ppi_backend_session *bs)
{
	const struct profil_kernel *kernel = profil_kernel_of(bs);
	uint64_t ns = profil_state_of(bs)->clock.helper_ns;

	kernel->thread_cpu(kernel->self, profil_state_of(bs)->helper, &ns);
	return ns;
}

void ppi_profil_clock_begin(struct ppi_backend_session *bs)
{
	const struct profil_kernel *kernel = profil_kernel_of(bs);
	struct profil_state *state = profil_state_of(bs);

	state->clock.process_ns = process_ns(bs);
	state->clock.helper_ns = helper_ns(bs);
	state->clock.is_on = true;
	if (state->resets != bs->resets) /* nothing is owed from before */
		ppi_tickweight_forget(&state->weight, state->clock.total_ns);
	state->resets = bs->resets;
	state->harvested_at_ns = kernel->now_ns(kernel->self);
}

uint64_t ppi_profil_clock_now(const struct ppi_backend_session *bs)
{
	const struct profil_clock *clock = &profil_state_of(bs)->clock;
	uint64_t used, helper;

	if (!clock->is_on)
		return clock->total_ns;
	used = process_ns(bs) - clock->process_ns;
	helper = helper_ns(bs) - clock->helper_ns;
	return clock->total_ns + (used > helper ? used - helper : 0);
}

void ppi_profil_clock_end(struct ppi_backend_session *bs)
{
	struct profil_clock *clock = &profil_state_of(bs)->clock;

	clock->total_ns = ppi_profil_clock_now(bs);
	clock->is_on = false;
}

/* ---- how often ---- */

/* Half of what a bin can hold, when all CPUs hit the same one. */
unsigned ppi_profil_harvest_ms(const struct ppi_backend_session *bs)
{
	const struct profil_kernel *kernel = profil_kernel_of(bs);
	const struct profil_state *state = profil_state_of(bs);
	uint64_t tick_ns = state->weight.num / state->weight.den, ms;

	if (state->rules->counts_microseconds)
		tick_ns = 1000;
	ms = 32768 * tick_ns / 1000000u / kernel->cpu_count(kernel->self);
	if (ms == 0)
		return 1;
	return ms < bs->drain_every_ms ? (unsigned)ms : bs->drain_every_ms;
}

/* As many ticks as the CPU time between two harvests can have made. */
static void note_if_late(struct ppi_backend_session *bs, uint64_t cpu_ns)
{
	const struct profil_state *state = profil_state_of(bs);
	uint64_t used_ns = cpu_ns - state->harvested_cpu_ns;
	uint64_t tick_ns = state->rules->counts_microseconds ?
	                           1000 : state->weight.num / state->weight.den;

	if (used_ns / tick_ns > 65535)
		ppi_note(bs, "bins were read too late: in one that was hit "
		         "more than 65535 times meanwhile, 65536 ticks are "
		         "missing each time; their time is unattributed");
}

/* Code that was loaded later may be where a kernel mistakes it for ours. */
static void note_if_alias(struct ppi_backend_session *bs, uint64_t now_ns)
{
	const struct profil_kernel *kernel = profil_kernel_of(bs);
	struct profil_state *state = profil_state_of(bs);
	struct ppi_text texts[PPI_TEXTS];
	const struct ppi_text *alias;
	size_t count;

	if (!state->rules->region.cut_bits ||
	    now_ns - state->texts_checked_ns < 1000000000u)
		return;
	state->texts_checked_ns = now_ns;
	count = kernel->text(kernel->self, texts, PPI_TEXTS);
	if (count > PPI_TEXTS)
		count = PPI_TEXTS;
	alias = ppi_pcregion_alias(&state->region,
	                           &state->rules->region, texts,
	                                count);
	if (alias)
		ppi_note(bs, "code was loaded at 0x%" PRIx64 " that %s counts "
		         "as if it were in the regions: ask for wider bins",
		         alias->start, state->rules->region.system);
}

/* ---- the harvest ---- */

static void set_largest_tick(struct ppi_backend_session *bs, uint64_t now_ns)
{
	const struct profil_kernel *kernel = profil_kernel_of(bs);
	struct profil_state *state = profil_state_of(bs);
	struct ppi_pcbins *bins = &state->bins;
	unsigned cpus = kernel->cpu_count(kernel->self);

	if (!state->rules->counts_microseconds)
		return;
	bins->tick_ns = state->weight.num / state->weight.den;
	bins->step_max = ((now_ns - state->harvested_at_ns) / bins->tick_ns +
	                  2) * cpus;
}

/* Give the kernel the empty buffer and read the other at leisure. */
static void swap_buffers(struct ppi_backend_session *bs)
{
	const struct profil_kernel *kernel = profil_kernel_of(bs);
	struct profil_state *state = profil_state_of(bs);
	struct ppi_pcbins *bins = &state->bins;
	unsigned idle = !bins->active;

	ppi_pcbins_read(bins, idle); /* what came late */
	ppi_pcbins_clear(bins, idle);
	if (state->is_running &&
	    kernel->profil(kernel->self, bins->buffer[idle],
	                   bins->count * sizeof(uint16_t),
	                   state->region.offset, state->region.scale)) {
		ppi_note(bs, "profil() refused a new buffer (%s): bins are "
		         "read later", strerror(errno));
		return;
	}
	ppi_pcbins_read(bins, bins->active);
	bins->active = idle;
}

portprof_status ppi_profil_harvest(struct ppi_backend_session *bs)
{
	const struct profil_kernel *kernel = profil_kernel_of(bs);
	struct profil_state *state = profil_state_of(bs);
	uint64_t now_ns = kernel->now_ns(kernel->self), cpu_ns;

	set_largest_tick(bs, now_ns);
	if (state->rules->read_in_place)
		ppi_pcbins_read(&state->bins, 0);
	else
		swap_buffers(bs);
	/* read after the bins: all their ticks are in it */
	cpu_ns = ppi_profil_clock_now(bs);
	note_if_late(bs, cpu_ns);
	note_if_alias(bs, now_ns);
	state->harvested_cpu_ns = cpu_ns;
	state->harvested_at_ns = now_ns;
	ppi_tickweight_begin(&state->weight, state->bins.waiting, cpu_ns);
	return PORTPROF_OK;
}

/* ---- records ---- */

void ppi_profil_give_records(struct ppi_backend_session *bs,
                             struct ppi_room *room)
{
	struct profil_state *state = profil_state_of(bs);

	ppi_pcgive(&state->bins, &state->region, &state->weight, room);
}
