/* SPDX-License-Identifier: MIT */
/* Sample streams, and many regions, by Solaris' pcsample(2). */
#include "backends/solaris/solaris_state.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* pcsample(2): EINVAL for more from a 32-bit process. */
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

/* What the first call returns is the count of whoever called before: another
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
