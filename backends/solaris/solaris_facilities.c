/* SPDX-License-Identifier: MIT */
/* The two facilities of Solaris: histograms of one region by profil(2), sample
 * streams and many regions by pcsample(2). */
#include "backends/common/pcbins.h"
#include "backends/solaris/solaris_state.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* ---- profil(2): histograms of one region ---- */

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
	ppi_note(bs,
		 "by profil(2): a sample covers %" PRIu64 " bytes of text at "
		 "0x%" PRIx64 "-0x%" PRIx64 "; time spent elsewhere is "
		 "unattributed",
		 state->region.bin_bytes, state->region.offset,
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

/* ---- pcsample(2): streams, and many regions ---- */

/* EINVAL for more from a 32-bit process. */
static const uint64_t room_max = INT32_MAX;
enum { ROOM_MIN = 4096 };

/* Four times what all CPUs together can fill between two harvests: a full
 * array stops the sampling of the whole process. */
static size_t room_for(const struct ppi_backend_session *bs)
{
	const struct solaris_kernel *kernel = solaris_kernel_of(bs);
	uint64_t room = (uint64_t)solaris_state_of(bs)->rate_hz *
	                kernel->cpu_count(kernel->self) *
	                bs->drain_every_ms / 1000 * 4;

	if (room < ROOM_MIN)
		room = ROOM_MIN;
	return (size_t)(room < room_max ? room : room_max);
}

portprof_status ppi_solaris_pcsample_open(struct ppi_backend_session *bs,
                                          struct ppi_diag *why)
{
	const struct solaris_kernel *kernel = solaris_kernel_of(bs);
	struct solaris_array *array = &solaris_state_of(bs)->array;
	int error;

	array->room = room_for(bs);
	array->pc_bytes = kernel->pc_bytes(kernel->self);
	for (unsigned i = 0; i < 2; i++) {
		array->samples[i] = kernel->map(kernel->self,
		                                array->room * array->pc_bytes);
		if (!array->samples[i])
			goto no_memory;
	}
	return PORTPROF_OK;

no_memory:
	error = errno;
	ppi_solaris_pcsample_close(bs);
	return ppi_fail(why, PORTPROF_E_NOMEM, error, "map array",
	                "no memory for two arrays of %zu samples: %s",
	                array->room, strerror(error));
}

static portprof_status fail_on(int error, struct ppi_diag *why)
{
	return ppi_fail(why, error == ENOSYS ? PORTPROF_E_UNSUPPORTED :
	                                       PORTPROF_E_SYSTEM,
	                error, "pcsample", "pcsample failed: %s; use the "
	                "backend itimer", strerror(error));
}

/* What the first call returns is the count of the caller before: another
 * user of this process, or the parent's, which a forked child inherits
 * (illumos common/os/fork.c copies p_prof). */
portprof_status ppi_solaris_pcsample_on(struct ppi_backend_session *bs,
                                        struct ppi_diag *why)
{
	const struct solaris_kernel *kernel = solaris_kernel_of(bs);
	struct solaris_array *array = &solaris_state_of(bs)->array;
	long others = kernel->pcsample(kernel->self,
	                               array->samples[array->active],
	                               (long)array->room);

	if (others < 0)
		return fail_on(errno, why);
	array->next = array->count = 0;
	return PORTPROF_OK;
}

/* A refused call leaves the running array alone: it is tried once more now,
 * and in any case at the next harvest. */
static long swap(const struct solaris_kernel *kernel, void *samples, long room)
{
	long count = kernel->pcsample(kernel->self, samples, room);

	return count < 0 ? kernel->pcsample(kernel->self, samples, room) :
	                   count;
}

void ppi_solaris_pcsample_off(struct ppi_backend_session *bs)
{
	const struct solaris_kernel *kernel = solaris_kernel_of(bs);

	solaris_state_of(bs)->array.last_count = swap(kernel, NULL, 0);
}

void ppi_solaris_pcsample_harvest(struct ppi_backend_session *bs, bool on)
{
	const struct solaris_kernel *kernel = solaris_kernel_of(bs);
	struct solaris_state *state = solaris_state_of(bs);
	struct solaris_array *array = &state->array;
	unsigned idle = !array->active;
	long count = on ? swap(kernel, array->samples[idle],
	                       (long)array->room) : array->last_count;

	array->count = array->next = 0;
	if (count < 0) {
		ppi_note(bs, "pcsample refused a new array (%s): samples are "
		         "read later", strerror(errno));
		state->may_have_lost |= !on;
		return;
	}
	array->active = idle;
	if ((uint64_t)count >= array->room) {
		state->may_have_lost = true;
		ppi_note(bs, "an array was full before it was replaced: "
		         "samples that followed are lost, their time is "
		         "unattributed");
	}
	/* more than there is room for is no count of this array's */
	array->count = (uint64_t)count <= array->room ? (size_t)count : 0;
}

static uint64_t sample_at(const struct solaris_array *array, size_t i)
{
	const void *samples = array->samples[!array->active];

	return array->pc_bytes == 4 ? ((const uint32_t *)samples)[i] :
	                              ((const uint64_t *)samples)[i];
}

static size_t run_at(const struct solaris_array *array, size_t i)
{
	size_t length = 1;

	while (i + length < array->count &&
	       sample_at(array, i + length) == sample_at(array, i))
		length++;
	return length;
}

static void drop(struct solaris_array *array, size_t i, size_t count)
{
	char *samples = array->samples[!array->active];

	memmove(samples + i * array->pc_bytes,
	        samples + (i + count) * array->pc_bytes,
	        (array->count - i - count) * array->pc_bytes);
	array->count -= count;
}

uint64_t ppi_solaris_pcsample_put_aside(struct ppi_backend_session *bs,
                                        uint64_t ticks, uint64_t most)
{
	struct solaris_array *array = &solaris_state_of(bs)->array;
	uint64_t left = ticks;

	for (size_t i = 0; left && i < array->count;) {
		size_t length = run_at(array, i);
		size_t part = length < left ? length : (size_t)left;

		if (length > most) {
			drop(array, i, part);
			left -= part;
			length -= part;
		}
		i += length;
	}
	return ticks - left;
}

/* By blocks of some instructions: a loop is one place. */
static uint64_t place_of(const struct solaris_array *array, size_t i)
{
	uint64_t block = sample_at(array, i) >> 6;

	return block ^ block >> 16;
}

void ppi_solaris_pcsample_mark(struct ppi_backend_session *bs)
{
	struct solaris_state *state = solaris_state_of(bs);

	for (size_t i = 0; i < state->array.count; i++)
		ppi_own_ticks_mark(&state->own, place_of(&state->array, i));
}

uint64_t ppi_solaris_pcsample_put_aside_own(struct ppi_backend_session *bs,
                                            uint64_t most)
{
	struct solaris_state *state = solaris_state_of(bs);
	struct solaris_array *array = &state->array;
	uint64_t left = most;

	for (size_t i = 0; left && i < array->count;) {
		if (ppi_own_ticks_is_programs(&state->own,
		                              place_of(array, i))) {
			i++;
			continue;
		}
		drop(array, i, 1);
		left--;
	}
	return most - left;
}

void ppi_solaris_pcsample_give(struct ppi_backend_session *bs,
                               struct ppi_room *room)
{
	struct solaris_state *state = solaris_state_of(bs);
	struct solaris_array *array = &state->array;

	while (array->next < array->count) {
		portprof_record record = {
			.kind = PORTPROF_RECORD_SAMPLE,
			.address = sample_at(array, array->next),
			.span = 1,
			.samples = 1,
			.weight = ppi_tickweight_of(&state->weight, 1),
		};

		if (!ppi_room_add(room, &record, NULL, 0))
			return;
		ppi_tickweight_give(&state->weight, 1);
		array->next++;
	}
}

void ppi_solaris_pcsample_close(struct ppi_backend_session *bs)
{
	const struct solaris_kernel *kernel = solaris_kernel_of(bs);
	struct solaris_array *array = &solaris_state_of(bs)->array;

	for (unsigned i = 0; i < 2; i++) {
		if (array->samples[i])
			kernel->unmap(kernel->self, array->samples[i],
			              array->room * array->pc_bytes);
		array->samples[i] = NULL;
	}
}
