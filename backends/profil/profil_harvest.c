/* SPDX-License-Identifier: MIT */
/* How long a tick is, and harvests: in time, weighed by the CPU clock, and made
 * into records. */
#include "backends/common/pcbins.h"
#include "backends/profil/profil_state.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* ---- how long a tick is ---- */

/* As the system reports it, or as a clock measures it. */

/* Enough edges for a rate within a percent, and the longest wait for them. */
enum { EDGES = 48, STEP_NS = 40000, WAIT_NS = 400000000 };

struct measurement {
	uint64_t gap_ns[EDGES];
	uint32_t ticks[EDGES];
	size_t count;
};

static uint64_t sum_of(const volatile uint16_t *bins, size_t count)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += bins[i];
	return sum;
}

/* Burn CPU time where only we are, and write down when the bins move. */
static void watch_edges(const struct profil_kernel *kernel,
                        const uint16_t *bins, size_t count,
                        struct measurement *m)
{
	uint64_t begun = kernel->now_ns(kernel->self), last_edge = 0;
	uint64_t seen = 0;

	while (m->count < EDGES) {
		uint64_t now, sum;

		kernel->burn(kernel->self, STEP_NS);
		now = kernel->now_ns(kernel->self);
		sum = sum_of(bins, count);
		if (now - begun > WAIT_NS)
			return;
		if (sum == seen)
			continue;
		if (last_edge) {
			m->gap_ns[m->count] = now - last_edge;
			m->ticks[m->count++] = (uint32_t)(sum - seen);
		}
		last_edge = now;
		seen = sum;
	}
}

/* A gap in which we did not run is too long: only those count that are at
 * most half as long again as the shortest. */
static void average(const struct measurement *m, struct ppi_tickweight *tick)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < m->count; i++)
		if (m->gap_ns[i] / m->ticks[i] < least)
			least = m->gap_ns[i] / m->ticks[i];
	for (size_t i = 0; i < m->count; i++) {
		if (m->gap_ns[i] / m->ticks[i] > least + least / 2)
			continue;
		tick->num += m->gap_ns[i];
		tick->den += m->ticks[i];
	}
}

static portprof_status measure(struct ppi_backend_session *bs,
                               struct ppi_diag *why)
{
	const struct profil_kernel *kernel = profil_kernel_of(bs);
	struct profil_state *state = profil_state_of(bs);
	struct ppi_pcbins whole = state->bins;
	struct ppi_pcregion region = state->region;
	struct measurement m = { .count = 0 };
	struct ppi_text place;
	portprof_status status;
	size_t bytes;

	kernel->burn_range(kernel->self, &place);
	state->region.offset = place.start;
	state->region.scale = 65536;
	state->bins.count = (size_t)(place.end - place.start + 1) / 2;
	state->bins.active = 0;
	bytes = state->bins.count * sizeof(uint16_t);
	state->bins.buffer[0] = kernel->map(kernel->self, bytes);
	status = state->bins.buffer[0] ?
	                 ppi_profil_claim(bs, why) :
	                 ppi_fail(why, PORTPROF_E_NOMEM, errno, "map bins",
	                          "out of memory: %s", strerror(errno));
	if (status == PORTPROF_OK) {
		watch_edges(kernel, state->bins.buffer[0], state->bins.count,
		            &m);
		status = ppi_profil_give_back(bs, why);
	}
	if (state->bins.buffer[0])
		kernel->unmap(kernel->self, state->bins.buffer[0], bytes);
	state->bins = whole;
	state->region = region;
	average(&m, &state->weight);
	if (status == PORTPROF_OK && state->weight.den == 0)
		status = ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0,
		                  "measure rate", "%s accepts profil() and "
		                  "samples nothing: use another backend",
		                  state->rules->region.system);
	return status;
}

portprof_status ppi_profil_rate(struct ppi_backend_session *bs,
                                struct ppi_diag *why)
{
	const struct profil_kernel *kernel = profil_kernel_of(bs);
	struct profil_state *state = profil_state_of(bs);
	unsigned hz = 0;

	if (state->rules->rate_is_told)
		hz = kernel->rate_hz(kernel->self);
	if (hz == 0)
		return measure(bs, why);
	state->weight.num = 1000000000u;
	state->weight.den = hz;
	return PORTPROF_OK;
}

/* ---- CPU time ---- */

void ppi_profil_clock_begin(struct ppi_backend_session *bs)
{
	const struct profil_kernel *kernel = profil_kernel_of(bs);
	struct profil_state *state = profil_state_of(bs);
	uint64_t now_ns = kernel->now_ns(kernel->self);

	ppi_cpu_meter_begin(&state->cpu, now_ns);
	if (state->resets != bs->resets) /* nothing is owed from before */
		ppi_tickweight_forget(&state->weight, state->cpu.done_ns);
	state->resets = bs->resets;
	ppi_tickweight_start(&state->weight, state->cpu.done_ns);
	state->foreign = state->own.taken = 0;
	state->harvested_at_ns = now_ns;
}

uint64_t ppi_profil_clock_now(struct ppi_backend_session *bs)
{
	const struct profil_kernel *kernel = profil_kernel_of(bs);

	return ppi_cpu_meter_now(&profil_state_of(bs)->cpu,
	                         kernel->now_ns(kernel->self));
}

void ppi_profil_clock_end(struct ppi_backend_session *bs)
{
	const struct profil_kernel *kernel = profil_kernel_of(bs);

	ppi_cpu_meter_end(&profil_state_of(bs)->cpu,
	                  kernel->now_ns(kernel->self));
}

static void note_if_clock_wrong(struct ppi_backend_session *bs)
{
	char words[256];

	if (!ppi_cpu_meter_is_right(&profil_state_of(bs)->cpu, words,
	                            sizeof(words)))
		ppi_note(bs, "%s", words);
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

static void read_active(struct profil_state *state)
{
	struct ppi_pcbins *bins = &state->bins;

	if (state->own.is_on && state->own.round == PPI_ROUND_ASLEEP)
		bins->asleep = &state->own;
	ppi_pcbins_read(bins, bins->active);
	bins->asleep = NULL;
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
	read_active(state);
	bins->active = idle;
}

/* The kernel bills a whole stay when it ends. Four lumps of that, and a
 * sixteenth of the time, may be chance. */
static void put_aside_foreign(struct ppi_backend_session *bs, uint64_t cpu_ns)
{
	struct profil_state *state = profil_state_of(bs);
	const struct ppi_tickweight *tick = &state->weight;
	uint64_t used, extra;

	if (state->rules->stay_ticks == 0)
		return;
	used = (cpu_ns - state->harvested_cpu_ns) * tick->den / tick->num;
	extra = ppi_tickweight_foreign(tick, state->bins.waiting, cpu_ns,
				       4 * state->rules->stay_ticks +
					       used / 16);
	/* no bin gains more by itself than all threads have run */
	state->foreign += ppi_pcbins_put_aside(&state->bins, extra,
	                                       used + state->rules->stay_ticks);
}

static void note_foreign(struct ppi_backend_session *bs)
{
	struct profil_state *state = profil_state_of(bs);
	const struct ppi_tickweight *tick = &state->weight;

	if (state->foreign == 0 || state->is_running)
		return;
	ppi_note(bs, "%" PRIu64 " ms of kernel time were put aside: threads "
	         "that were in the kernel at the start had spent them before",
	         state->foreign * tick->num / tick->den / 1000000u);
	state->foreign = 0;
}

/* What came while the helper worked may have hit the helper. */
static void put_aside_own(struct profil_state *state)
{
	uint64_t most = ppi_own_ticks_left(&state->own, &state->cpu,
	                                   &state->weight,
	                                   state->rules->stay_ticks);

	state->own.taken += ppi_pcbins_put_aside_own(&state->bins, &state->own,
	                                             most);
}

void ppi_profil_harvest(struct ppi_backend_session *bs)
{
	const struct profil_kernel *kernel = profil_kernel_of(bs);
	struct profil_state *state = profil_state_of(bs);
	uint64_t now_ns = kernel->now_ns(kernel->self), cpu_ns;

	set_largest_tick(bs, now_ns);
	if (state->rules->read_in_place)
		read_active(state);
	else
		swap_buffers(bs);
	/* read after the bins: all their ticks are in it */
	cpu_ns = ppi_profil_clock_now(bs);
	note_if_clock_wrong(bs);
	note_if_late(bs, cpu_ns);
	note_if_alias(bs, now_ns);
	put_aside_own(state);
	put_aside_foreign(bs, cpu_ns);
	note_foreign(bs);
	state->harvested_cpu_ns = cpu_ns;
	state->harvested_at_ns = now_ns;
	ppi_tickweight_begin(&state->weight, state->bins.waiting, cpu_ns);
}

/* ---- records ---- */

void ppi_profil_give_records(struct ppi_backend_session *bs,
                             struct ppi_room *room)
{
	struct profil_state *state = profil_state_of(bs);

	ppi_pcgive(&state->bins, &state->region, &state->weight, room);
}
