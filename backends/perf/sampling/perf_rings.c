/* SPDX-License-Identifier: MIT */
/* The rings: places for them, mapping them, how large they are, how often they are
 * emptied. */
#include "backends/perf/sampling/perf_rings.h"

#include "backends/perf/kernel/perf_refusal.h"
#include "backends/perf/sampling/perf_samples.h"
#include "backends/perf/sampling/perf_sampling.h"
#include "backends/perf/sampling/perf_sides.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- places ---- */

size_t ppi_perf_new_ring(struct perf_state *state)
{
	struct perf_rings *rings = state->rings;
	size_t at = 0;

	while (at < rings->count && rings->all[at].fd != PERF_RING_FREE)
		at++;
	if (at == rings->room) {
		size_t room = at ? at * 2 : 16;
		struct perf_ring *all =
			realloc(rings->all, room * sizeof(*all));
		size_t *order;

		if (!all)
			return SIZE_MAX;
		rings->all = all;
		order = realloc(rings->order, room * sizeof(*order));
		if (!order)
			return SIZE_MAX;
		rings->order = order;
		rings->room = room;
	}
	memset(&rings->all[at], 0, sizeof(rings->all[at]));
	rings->all[at].fd = PERF_RING_FREE;
	if (at == rings->count)
		rings->count++;
	return at;
}

/* ---- mapping them, as the budget for locked memory allows ---- */

enum { RING_TRIED_LEAST = 32 << 10 };

/* The budget for locked memory is used up: kernel/events/core.c, perf_mmap. */
static bool is_out_of_budget(int error)
{
	return error == -EPERM || error == -ENOMEM;
}

static size_t bytes_of(const struct perf_state *state,
                       const struct perf_ring *ring)
{
	const struct perf_rings *rings = state->rings;

	return rings->page_bytes +
	       (ring->is_side ? rings->side_bytes : rings->sample_bytes);
}

static int try_map(struct ppi_backend_session *bs, int fd,
                   struct perf_ring *ring)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	size_t bytes = bytes_of(state, ring);
	void *address;
	int error = kernel->map(kernel->self, fd, bytes, &address);

	if (error < 0)
		return error;
	if (ppi_perf_buffer_attach(&ring->buffer, address, bytes,
	                         state->rings->page_bytes))
		return 0;
	kernel->unmap(kernel->self, address, bytes);
	return -EIO;
}

/* What is larger than its ring is never written. */
static size_t ring_least(const struct perf_state *state)
{
	return state->kind.shape.stack_bytes
		? 4 * (size_t)(state->kind.shape.stack_bytes + 1024) : 0;
}

/*
 * Rings of threads are made while events are opened, whose shape cannot change
 * then: find out before how large they can be, with room for as many more.
 */
void ppi_perf_fit_thread_rings(struct ppi_backend_session *bs, size_t threads)
{
	struct perf_state *state = perf_state_of(bs);
	struct perf_event_attr attr;
	size_t rings = 2;

	while (rings < 2 * threads)
		rings *= 2;
	while (state->rings->sample_bytes > RING_TRIED_LEAST) {
		ppi_perf_attr_ring_owner(&state->kind, &attr);
		if (!is_out_of_budget(-ppi_perf_try_attr(
			    perf_kernel_of(bs->kernel), &attr, 0, -1,
			    rings * state->rings->sample_bytes +
				    state->rings->page_bytes)))
			break;
		state->rings->sample_bytes /= 2;
		state->rings->is_lock_limited = true;
	}
	ppi_perf_fit_stacks(bs);
}

bool ppi_perf_shrink_rings(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	struct perf_rings *rings = state->rings;
	size_t *larger = rings->side_bytes > rings->sample_bytes &&
	                 state->layout != PERF_THREAD_RINGS
		? &rings->side_bytes : &rings->sample_bytes;

	if (*larger <= rings->page_bytes ||
	    (state->layout == PERF_THREAD_RINGS &&
	     *larger / 2 < ring_least(state)))
		return false;
	*larger /= 2;
	rings->is_lock_limited = true;
	if (state->kind.shape.stack_bytes && larger == &rings->sample_bytes)
		return true; /* shorter copies make up for it */
	ppi_note(bs, "rings are smaller than they should be, so samples may "
	         "be lost: the memory a user may lock is limited; raise "
	         "kernel.perf_event_mlock_kb or ulimit -l");
	return true;
}

size_t ppi_perf_side_rings_left(const struct perf_state *state)
{
	enum { SIDE_RINGS_OF_THREADS = 32 };
	size_t used = 0;

	for (size_t i = 0; i < state->rings->count; i++)
		used += state->rings->all[i].fd != PERF_RING_FREE &&
		        state->rings->all[i].is_side;
	return used < SIDE_RINGS_OF_THREADS ? SIDE_RINGS_OF_THREADS - used : 0;
}

portprof_status ppi_perf_map_ring(struct ppi_backend_session *bs, int fd,
                                  struct perf_ring *ring, struct ppi_diag *why)
{
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	struct perf_state *state = perf_state_of(bs);
	int error;

	do {
		error = try_map(bs, fd, ring);
	} while (is_out_of_budget(error) && !ring->is_side &&
	         state->layout == PERF_THREAD_RINGS &&
	         ppi_perf_shrink_rings(bs));
	if (error == 0)
		return PORTPROF_OK;
	return ppi_perf_refuse_map(kernel, bytes_of(state, ring), -error, why);
}

portprof_status ppi_perf_attach_cpu(struct ppi_backend_session *bs,
                                    uint32_t cpu,
                                    bool is_side, struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	struct perf_event_attr attr;
	portprof_status status;
	size_t at = ppi_perf_new_ring(state);
	int fd;

	if (at == SIZE_MAX)
		return ppi_fail(why, PORTPROF_E_NOMEM, ENOMEM, "open ring",
		                "out of memory");
	state->rings->all[at].cpu = cpu;
	state->rings->all[at].is_side = is_side;
	if (is_side && state->layout == PERF_SYSTEM_RINGS)
		return ppi_perf_attach_cpu_carrier(bs, at, why);
	ppi_perf_attr_ring_owner(&state->kind, &attr);
	/* Of the thread that calls, which is the helper. */
	fd = ppi_perf_open_attr(kernel, &attr, 0, (int)cpu, -1);
	if (fd < 0)
		return ppi_perf_refuse_open(kernel, NULL, -fd, why);
	status = ppi_perf_map_ring(bs, fd, &state->rings->all[at], why);
	if (status != PORTPROF_OK) {
		kernel->close_event(kernel->self, fd, PERF_FRESH);
		return status;
	}
	state->rings->all[at].fd = fd;
	state->rings->all[at].owns_fd = true;
	return PORTPROF_OK;
}

void ppi_perf_close_cpus(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);

	for (size_t i = 0; i < state->rings->count; i++) {
		struct perf_ring ring = state->rings->all[i];

		if (ring.fd == PERF_RING_FREE)
			continue;
		ppi_perf_retire_ring(bs, i);
		if (ring.owns_fd)
			kernel->close_event(kernel->self, ring.fd, PERF_FRESH);
	}
	state->rings->count = 0;
}

/* ---- how large rings are, and how often they are emptied ---- */

enum {
	RING_MIN = 16 << 10,
	RING_CPU_MAX = 512 << 10,
	/* Records of mappings, threads and names come at no rate of ours. Rings
	 * are made for as many on one CPU as a storm of short processes brings
	 * on all: each has about 150 bytes. Who may lock memory without a limit
	 * has more, so that our thread may come late to a worse storm. */
	SIDE_CPU = 256 << 10,
	SIDE_CPU_FREE = 2048 << 10,
	SIDE_ALL_FREE = 32 << 20,
	SIDE_THREAD = 64 << 10,
	SIDE_BYTES_PER_SECOND = 20000 * 150,
	RING_THREAD_MAX = 64 << 10,
	CHAIN_TYPICAL = 32,    /* addresses, to size rings by */
	RATE_UNKNOWN_HZ = 4000,
	/* With copies of stacks: of one ring, of one whose rate needs more, of
	 * all, and how long a ring must last when our thread is kept from
	 * running by others. */
	STACKS_RING = 32 << 20,
	STACKS_RING_FAST = 64 << 20,
	STACKS_ALL = 256 << 20,
	STACKS_HOLD_MS = 400,
	STACK_BESIDE = 35 * 8, /* the registers, two sizes */
	RINGS_OF_THREADS = 32,
	NAP_MIN_MS = 2,
	NAP_NEW_THREADS_MS = 10,
	NAP_SMALL_STACKS_MS = 8
};

/* What a fast CPU counts in a second. */
static const uint64_t CYCLES_HZ = UINT64_C(4000000000);

/*
 * Samples per second, to size rings and naps by. How often hardware counts to
 * a period is known to nobody beforehand; at the fastest it is once a cycle.
 */
static uint64_t expected_rate(const struct ppi_plan *plan, bool at_the_fastest)
{
	uint64_t rate = 0;

	for (size_t i = 0; i < plan->event_count; i++) {
		const struct ppi_event *event = &plan->events[i];

		if (event->rate_hz)
			rate += event->rate_hz;
		else if (event->unit == PORTPROF_UNIT_NANOSECONDS &&
		         event->period)
			rate += 1000000000u / event->period + 1;
		else if (at_the_fastest && event->period &&
		         !perf_is_of_place(event))
			rate += CYCLES_HZ / event->period + RATE_UNKNOWN_HZ;
		else
			rate += RATE_UNKNOWN_HZ;
	}
	return rate;
}

static uint64_t expected_bytes(const struct perf_shape *shape)
{
	uint64_t words = 9;

	if (shape->sample_type & PERF_SAMPLE_CALLCHAIN)
		words += shape->chain_depth < CHAIN_TYPICAL
			? shape->chain_depth + 3 : CHAIN_TYPICAL;
	if (shape->sample_type & PERF_SAMPLE_REGS_USER)
		words += 2;
	return words * 8;
}

/* The kernel writes the room of a stack's copy whatever is in it. */
static uint64_t stack_record_bytes(const struct perf_shape *shape)
{
	return shape->stack_bytes ? shape->stack_bytes + STACK_BESIDE : 0;
}

/* Of a second, at the rate that was asked for. */
static uint64_t expected_load(const struct ppi_backend_session *bs,
                              bool at_the_fastest)
{
	const struct perf_shape *shape = &perf_state_of(bs)->kind.shape;

	/* what may come once a cycle is not sized for with stacks: the kernel
	 * cannot copy as many */
	return expected_rate(bs->plan, at_the_fastest) *
	               expected_bytes(shape) +
	       expected_rate(bs->plan, false) * stack_record_bytes(shape);
}

/* As many samples with stacks as without. */
static size_t with_stacks(const struct ppi_backend_session *bs, size_t bytes)
{
	const struct perf_state *state = perf_state_of(bs);
	const struct perf_shape *shape = &state->kind.shape;
	size_t rings = state->layout == PERF_THREAD_RINGS
		? RINGS_OF_THREADS : state->cpu_count;
	size_t most = STACKS_ALL / rings;
	uint64_t held = expected_load(bs, false) * STACKS_HOLD_MS / 1000;
	size_t ring = held > STACKS_RING ? STACKS_RING_FAST : STACKS_RING;

	most = most > ring ? ring : most;
	bytes += (size_t)(bytes / expected_bytes(shape) *
	                  stack_record_bytes(shape));
	return bytes < most ? bytes : most;
}

void ppi_perf_fit_stacks(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	struct perf_shape *shape = &state->kind.shape;
	uint64_t samples =
		expected_rate(bs->plan, false) * STACKS_HOLD_MS / 1000;
	uint64_t each = state->rings->sample_bytes / (samples + 1);
	uint64_t beside = expected_bytes(shape) + STACK_BESIDE;
	uint64_t most = each > beside + PERF_STACK_MIN ? each - beside
	                                               : PERF_STACK_MIN;

	if (shape->stack_bytes > most)
		shape->stack_bytes = (uint32_t)most & ~UINT32_C(1023);
}

/* What is within a user's budget for rings stays well below it: others of the
 * user need some, too. */
static size_t side_of_cpu(const struct ppi_backend_session *bs)
{
	const struct perf_state *state = perf_state_of(bs);
	struct perf_rights rights;
	size_t bytes = SIDE_CPU_FREE;

	if (state->layout == PERF_THREAD_RINGS)
		return SIDE_CPU;
	ppi_perf_find_rights(perf_kernel_of(bs->kernel), &rights);
	if (!rights.can_lock && rights.paranoid != -1)
		return SIDE_CPU;
	while (bytes > SIDE_CPU && bytes * state->cpu_count > SIDE_ALL_FREE)
		bytes /= 2;
	return bytes;
}

/* One ring a CPU for samples and for what is reported beside them. */
static bool shares_rings(const struct perf_state *state)
{
	return !state->sides->has_carriers && state->layout == PERF_CPU_RINGS;
}

void ppi_perf_size_rings(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	struct perf_rings *rings = state->rings;
	uint64_t per_second = expected_rate(bs->plan, true) *
	                      expected_bytes(&state->kind.shape);
	uint64_t least = RING_MIN, most = RING_CPU_MAX;
	uint64_t wanted = 2 * per_second;

	if (state->layout == PERF_THREAD_RINGS) {
		if (bs->plan->target.kind != PPI_TARGET_TID)
			most = RING_THREAD_MAX; /* there may be many */
		wanted = per_second / 2;
	}
	wanted = wanted < least ? least : wanted > most ? most : wanted;
	if (state->kind.shape.stack_bytes)
		wanted = with_stacks(bs, (size_t)wanted);
	rings->side_bytes = side_of_cpu(bs);
	if (shares_rings(state) && wanted < rings->side_bytes)
		wanted = rings->side_bytes;
	if (bs->plan->ring_bytes)
		wanted = bs->plan->ring_bytes;
	rings->sample_bytes = rings->page_bytes;
	while (rings->sample_bytes < wanted && rings->sample_bytes < 64u << 20)
		rings->sample_bytes *= 2;
	if (state->layout == PERF_THREAD_RINGS &&
	    bs->plan->target.kind != PPI_TARGET_TID)
		rings->side_bytes = SIDE_THREAD;
	if (rings->side_bytes < rings->page_bytes)
		rings->side_bytes = rings->page_bytes;
}

/* How long it takes until a ring is half full, of `side_bytes` if it is one of those. */
static unsigned half_full_ms(const struct ppi_backend_session *bs,
                             uint64_t side_bytes, bool at_the_fastest)
{
	const struct perf_state *state = perf_state_of(bs);
	uint64_t per_second = expected_load(bs, at_the_fastest);
	uint64_t beside = shares_rings(state) ? SIDE_BYTES_PER_SECOND : 0;
	uint64_t ms = state->rings->sample_bytes * 500 / (per_second + beside);
	uint64_t side_ms = side_bytes * 500 / SIDE_BYTES_PER_SECOND;

	if (state->sides->has_carriers && side_ms < ms)
		ms = side_ms;
	ms = ms < NAP_MIN_MS ? NAP_MIN_MS : ms;
	return ms < bs->drain_every_ms ? (unsigned)ms : bs->drain_every_ms;
}

/* Come back before a ring is more than half full, or a quarter of a large one, which
 * is for worse storms. Naps begin as for a small one and get longer, up to nap_ms,
 * while rings stay empty. With thread rings a new thread is measured from the drain on
 * that finds its creator's FORK record. */
void ppi_perf_choose_nap(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	enum ppi_target_kind kind = bs->plan->target.kind;
	uint64_t side = state->rings->side_bytes;
	uint64_t small = side < SIDE_CPU ? side : SIDE_CPU;
	unsigned most = half_full_ms(bs, side / 2 > small ? side / 2 : small,
	                             false);

	if (state->layout == PERF_THREAD_RINGS &&
	    (kind == PPI_TARGET_PROCESS || kind == PPI_TARGET_PID) &&
	    most > NAP_NEW_THREADS_MS)
		most = NAP_NEW_THREADS_MS;
	state->drain->nap_ms = most;
	bs->drain_every_ms = half_full_ms(bs, small, true);
	/* chains that small copies cut are seen soon, or never */
	if (state->stacks->small_bytes && most > NAP_SMALL_STACKS_MS)
		most = NAP_SMALL_STACKS_MS;
	if (bs->drain_every_ms > most)
		bs->drain_every_ms = most;
}
