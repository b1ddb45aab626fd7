/* SPDX-License-Identifier: MIT */
/* Histograms of one region by Solaris' profil(2). */
#include "backends/common/pcgive.h"
#include "backends/solaris/solaris_state.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* A bin that would exceed it stops the profiling of the whole process, and
 * nobody is told (illumos common/os/clock.c, profil_tick). */
enum { BIN_MAX = 32767 };

static const struct ppi_pcregion_rules rules = { .system = "Solaris" };

static portprof_status map_bins(struct ppi_backend_session *bs,
                                struct ppi_diag *why)
{
	const struct solaris_kernel *kernel = solaris_kernel_of(bs);
	struct solaris_state *state = solaris_state_of(bs);
	struct ppi_pcbins *bins = &state->bins;
	size_t narrow = state->region.bins * sizeof(uint16_t);
	int error;

	bins->count = state->region.bins;
	bins->buffer[0] = kernel->map(kernel->self, narrow);
	if (bins->buffer[0])
		bins->buffer[1] = kernel->map(kernel->self, narrow);
	if (bins->buffer[1])
		bins->seen = kernel->map(kernel->self, narrow);
	if (bins->seen)
		bins->wide = kernel->map(kernel->self, 2 * narrow);
	if (bins->wide)
		return PORTPROF_OK;
	error = errno;
	ppi_solaris_profil_close(bs);
	return ppi_fail(why, PORTPROF_E_NOMEM, error, "map bins",
	                "no memory for %zu bins: %s", state->region.bins,
	                strerror(error));
}

/* Half of what a bin may hold, when all CPUs hit the same one. */
static unsigned harvest_ms(const struct ppi_backend_session *bs)
{
	const struct solaris_kernel *kernel = solaris_kernel_of(bs);
	uint64_t each = (uint64_t)solaris_state_of(bs)->rate_hz *
	                kernel->cpu_count(kernel->self);
	uint64_t ms = BIN_MAX / 2 * (uint64_t)1000 / each;

	if (ms == 0)
		return 1;
	return ms < bs->drain_every_ms ? (unsigned)ms : bs->drain_every_ms;
}

/* As in a program that is linked with the library statically. */
static bool counts_our_code(const struct ppi_backend_session *bs)
{
	const struct solaris_kernel *kernel = solaris_kernel_of(bs);
	const struct ppi_pcregion *region = &solaris_state_of(bs)->region;
	uint64_t ours = kernel->own_code(kernel->self);

	return ours >= region->offset &&
	       (ours - region->offset) / region->bin_bytes < region->bins;
}

portprof_status ppi_solaris_profil_open(struct ppi_backend_session *bs,
                                        struct ppi_diag *why)
{
	const struct solaris_kernel *kernel = solaris_kernel_of(bs);
	struct solaris_state *state = solaris_state_of(bs);
	struct ppi_text texts[PPI_TEXTS];
	size_t count = kernel->text(kernel->self, texts, PPI_TEXTS);
	portprof_status status;

	if (count > PPI_TEXTS)
		count = PPI_TEXTS;
	status = ppi_pcregion_choose(bs->plan, &rules, texts, count,
	                             &state->region, why);
	if (status == PORTPROF_OK)
		status = map_bins(bs, why);
	if (status)
		return status;
	state->own.is_on = counts_our_code(bs);
	bs->drain_every_ms = harvest_ms(bs);
	bs->caps &= ~PPI_SOLARIS_PCSAMPLE_CAPS;
	ppi_note(bs, "by profil(2): a sample covers %" PRIu64 " bytes of text at "
	         "0x%" PRIx64 "-0x%" PRIx64 "; time spent elsewhere is "
	         "unattributed", state->region.bin_bytes,
	         state->region.offset,
	         state->region.offset +
	                 state->region.bins * state->region.bin_bytes);
	return PORTPROF_OK;
}

static void give_buffer(struct ppi_backend_session *bs)
{
	const struct solaris_kernel *kernel = solaris_kernel_of(bs);
	struct solaris_state *state = solaris_state_of(bs);
	struct ppi_pcbins *bins = &state->bins;

	/* it can not fail: profil(2) of Solaris always returns */
	kernel->profil(kernel->self, bins->buffer[bins->active],
	               bins->count * sizeof(uint16_t), state->region.offset,
	               state->region.scale);
}

portprof_status ppi_solaris_profil_on(struct ppi_backend_session *bs,
                                      struct ppi_diag *why)
{
	(void)why;
	give_buffer(bs);
	return PORTPROF_OK;
}

/* Not sure, and all the same told: the CPU time allows for more ticks than a
 * bin may hold, and one bin holds half of that. */
static void note_if_stopped(struct ppi_backend_session *bs, uint64_t ticks)
{
	struct solaris_state *state = solaris_state_of(bs);

	if (ticks > BIN_MAX && state->bins.largest_step > BIN_MAX / 2) {
		state->may_have_lost = true;
		ppi_note(bs, "bins were read too late: Solaris stops to count "
		         "when one reaches 32767; what followed until it was "
		         "read is unattributed");
	}
	state->bins.largest_step = 0;
}

/* profil_tick writes under p_pflock, which the call takes, too: nothing comes
 * late into a buffer that was replaced. A call also undoes a stop. */
void ppi_solaris_profil_harvest(struct ppi_backend_session *bs, bool on)
{
	struct solaris_state *state = solaris_state_of(bs);
	struct ppi_pcbins *bins = &state->bins;
	unsigned full = bins->active;
	uint64_t cpu_ns = state->harvested_cpu_ns;

	ppi_pcbins_clear(bins, !full);
	bins->active = !full;
	if (on)
		give_buffer(bs);
	if (state->own.is_on && state->own.round == PPI_ROUND_ASLEEP)
		bins->asleep = &state->own;
	ppi_pcbins_read(bins, full);
	bins->asleep = NULL;
	note_if_stopped(bs, ppi_solaris_ticks_since(bs, cpu_ns));
}

void ppi_solaris_profil_give(struct ppi_backend_session *bs,
                             struct ppi_room *room)
{
	struct solaris_state *state = solaris_state_of(bs);

	ppi_pcgive(&state->bins, &state->region, &state->weight, room);
}

void ppi_solaris_profil_close(struct ppi_backend_session *bs)
{
	const struct solaris_kernel *kernel = solaris_kernel_of(bs);
	struct ppi_pcbins *bins = &solaris_state_of(bs)->bins;
	size_t narrow = bins->count * sizeof(uint16_t);

	for (unsigned i = 0; i < 2; i++)
		if (bins->buffer[i])
			kernel->unmap(kernel->self, bins->buffer[i], narrow);
	if (bins->seen)
		kernel->unmap(kernel->self, bins->seen, narrow);
	if (bins->wide)
		kernel->unmap(kernel->self, bins->wide, 2 * narrow);
	memset(bins, 0, sizeof(*bins));
}
