/* SPDX-License-Identifier: MIT */
/*
 * How often a clock may interrupt: never for more than a quarter of a CPU.
 *
 * The kernel's own guard (kernel/events/core.c, __perf_event_account_interrupt)
 * counts interrupts a tick, not their time. Where one takes longer than the
 * period, the program never runs again: 33 us each at a period of 10 us held a
 * CPU of a virtual machine until the profiled program was killed.
 *
 * And how large rings are, and how often they are emptied.
 */
#include "backends/perf/perf_rate.h"

#include "backends/perf/perf_account.h"
#include "backends/perf/perf_proc.h"
#include "backends/perf/perf_rings.h"
#include "backends/perf/perf_samples.h"
#include "backends/perf/perf_state.h"
#include "backends/perf/probe/perf_rights.h"

#include <time.h>

enum {
	TRIALS = 8,           /* interrupts to measure */
	TRIAL_NS = 250000,    /* one each so much: known to be harmless */
	PREEMPTED_NS = 500000, /* a longer gap is another thread's time slice */
	READS_MAX = 400000,   /* a clock that stands still */
	SHARE = 4,            /* a sample has at most 1/SHARE of its period */
	STEP_NS = 10000,      /* periods are granted in steps of this */
	FREE_NS = 1000000,    /* nobody measures for 1000 Hz and less */
	LATE_SAMPLES = 50,    /* enough of them to judge by */
	RATE_LIMIT_HZ = 100000 /* of the sysctl, when it cannot be read */
};

#define LOOK_NS UINT64_C(2000000000)

static int open_trial(const struct perf_kernel *kernel)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = TRIAL_NS,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
		               PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN,
		.exclude_callchain_kernel = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.disabled = 1,
	};
	int fd = ppi_perf_open_attr(kernel, &attr, 0, -1, -1);

	if (fd >= 0 && kernel->control(kernel->self, fd, PERF_EVENT_IOC_ENABLE,
	                               NULL) < 0) {
		kernel->close_event(kernel->self, fd, PERF_FRESH);
		return -1;
	}
	return fd;
}

/* Keeps the `TRIALS` longest, longest first. */
static void keep_gap(uint64_t longest[TRIALS], uint64_t gap)
{
	size_t at = TRIALS - 1;

	for (; at > 0 && longest[at - 1] < gap; at--)
		longest[at] = longest[at - 1];
	longest[at] = gap;
}

/*
 * This thread reads the clock without a pause while it is interrupted TRIALS
 * times. Those are the longest gaps between two readings, but for those in which
 * another thread ran, who was switched to, and the few in which another machine
 * had the CPU: so the middle one is an interrupt's.
 */
static uint64_t measure(const struct perf_kernel *kernel)
{
	uint64_t longest[TRIALS] = { 0 }, ran = 0, last, now, gap;
	uint64_t before = kernel->count_switches(kernel->self), switches;
	int fd = open_trial(kernel);

	if (fd < 0)
		return 0;
	if (kernel->get_clock(kernel->self, CLOCK_MONOTONIC, &last) < 0)
		goto close_trial;
	for (unsigned reads = 0; ran <= (TRIALS + 1) * TRIAL_NS &&
	     reads < READS_MAX; reads++) {
		if (kernel->get_clock(kernel->self, CLOCK_MONOTONIC, &now) < 0)
			break;
		gap = now - last;
		ran += gap < PREEMPTED_NS ? gap : 0;
		last = now;
		if (gap <= longest[TRIALS - 1])
			continue;
		switches = kernel->count_switches(kernel->self);
		if (switches == before)
			keep_gap(longest, gap);
		before = switches;
		if (kernel->get_clock(kernel->self, CLOCK_MONOTONIC, &last) < 0)
			break;
	}
close_trial:
	kernel->close_event(kernel->self, fd, PERF_FRESH);
	return longest[TRIALS / 2];
}

/* As long as an interrupt of `cost_ns` needs, in steps, so that two
 * measurements of one machine mostly grant the same. */
static uint64_t period_for(uint64_t cost_ns)
{
	return (cost_ns * SHARE + STEP_NS - 1) / STEP_NS * STEP_NS;
}

uint64_t ppi_perf_rate_interrupt_ns(const struct perf_kernel *kernel)
{
	uint32_t known = atomic_load(kernel->interrupt_ns);

	if (known == 0) {
		known = (uint32_t)measure(kernel);
		atomic_store(kernel->interrupt_ns, known);
	}
	return known;
}

uint64_t ppi_perf_rate_allowed_hz(const struct perf_kernel *kernel)
{
	int64_t most = ppi_perf_proc_number(
		kernel, "/proc/sys/kernel/perf_event_max_sample_rate",
		RATE_LIMIT_HZ);

	return most > 0 ? (uint64_t)most : UINT64_MAX;
}

uint64_t ppi_perf_rate_grant(const struct perf_kernel *kernel,
                             uint64_t period_ns)
{
	uint64_t least = PERF_PERIOD_MIN_NS;

	if (period_ns < FREE_NS) {
		uint64_t harmless =
			period_for(ppi_perf_rate_interrupt_ns(kernel));

		least = harmless > least ? harmless : least;
	}
	return period_ns < least ? least : period_ns;
}

/* ---- what measuring adds ---- */

/* A clock of this thread stops and starts, as it does where threads are switched
 * that do not have copies of the same events. */
static uint64_t measure_switch(const struct perf_kernel *kernel)
{
	enum { SWITCHES = 64 };
	int fd = open_trial(kernel);
	uint64_t began = 0, ended = 0;
	bool is_good;

	if (fd < 0)
		return 0;
	is_good = kernel->get_clock(kernel->self, CLOCK_MONOTONIC, &began) == 0;
	for (unsigned i = 0; i < SWITCHES && is_good; i++)
		is_good = kernel->control(kernel->self, fd,
		                          PERF_EVENT_IOC_DISABLE, NULL) == 0 &&
		          kernel->control(kernel->self, fd,
		                          PERF_EVENT_IOC_ENABLE, NULL) == 0;
	is_good = is_good && kernel->get_clock(kernel->self, CLOCK_MONOTONIC,
	                                       &ended) == 0;
	kernel->close_event(kernel->self, fd, PERF_FRESH);
	return is_good && ended > began ? (ended - began) / SWITCHES : 0;
}

/* Threads that were attached one by one have events of their own, which change
 * places with none: perf_clocks.c. Of one and its kin only those do that are read. */
static bool stops_at_switches(const struct perf_state *state)
{
	int64_t first = 0;

	if (state->layout == PERF_SYSTEM_RINGS)
		return false;
	if (state->layout == PERF_THREAD_RINGS || state->has_values)
		return true;
	for (size_t i = 0; i < state->source_count; i++) {
		const struct perf_source *source = &state->sources[i];

		if (source->tid == PERF_ANYBODY)
			continue;
		if (first && source->tid != first)
			return true;
		first = source->tid;
	}
	return false;
}

static void measure_costs(const struct ppi_backend_session *bs,
                          uint64_t *sample_ns, uint64_t *switch_ns)
{
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);

	*sample_ns = ppi_perf_rate_interrupt_ns(kernel);
	*switch_ns = stops_at_switches(perf_state_of(bs))
		? measure_switch(kernel) : 0;
}

const struct ppi_costs_ops ppi_perf_costs = {
	.measure = measure_costs,
};

/* ---- while running ---- */

static bool is_clock(const struct ppi_event *event)
{
	return perf_own(event)->type == PERF_TYPE_SOFTWARE && event->period &&
	       event->unit == PORTPROF_UNIT_NANOSECONDS;
}

/*
 * Samples stand for more than twice their period: interrupts take longer than
 * that. Told by events alone that see all that their clock counts; those of one
 * mode, and of CPUs that idle, have fewer samples for another reason.
 */
static bool is_late(struct ppi_backend_session *bs, size_t at)
{
	const struct perf_state *state = perf_state_of(bs);
	const struct ppi_event *event = &bs->plan->events[at];
	struct perf_tally *tally = &state->tallies[at], lost = { 0 };
	uint64_t samples = tally->samples - tally->seen_samples;
	uint64_t weight = tally->emitted - tally->seen_emitted;
	uint64_t expected;

	if (!event->counts_user || !event->counts_kernel ||
	    state->layout == PERF_SYSTEM_RINGS || samples < LATE_SAMPLES)
		return false;
	tally->seen_samples = tally->samples;
	tally->seen_emitted = tally->emitted;
	if (weight / 2 / tally->period <= samples)
		return false;
	/* what was lost had its interrupt, too */
	for (size_t i = 0; i < state->source_count; i++)
		if (state->sources[i].event == at)
			ppi_perf_tally_source(bs, &state->sources[i], &lost);
	expected = samples + lost.lost - tally->seen_lost;
	tally->seen_lost = lost.lost;
	return weight / 2 / tally->period > expected;
}

static void slow_down(struct ppi_backend_session *bs, size_t at,
                      uint64_t period)
{
	struct perf_state *state = perf_state_of(bs);

	state->tallies[at].period = period;
	for (size_t i = 0; i < state->source_count; i++) {
		const struct perf_source *source = &state->sources[i];
		uint64_t own = period;

		if (source->event != at)
			continue;
		if (source->is_tail)
			own = ppi_perf_tail_period(state, source->event,
			                           source->ring);
		ppi_perf_control(bs, source, PERF_EVENT_IOC_PERIOD, &own);
	}
	ppi_note(bs, "%s: slowed down to %llu Hz while running: each sample "
	         "took more than a quarter of its period%s",
	         bs->plan->events[at].request.name,
	         1000000000ull / (unsigned long long)period,
	         state->kind.inherits
	         ? "; threads that began before keep their "
	                                "rate until they end" : "");
}

void ppi_perf_rate_watch(struct ppi_backend_session *bs, uint64_t now_ns)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	uint64_t needed = 0;

	if (!state->is_running || now_ns < state->next_rate_look_ns)
		return;
	state->next_rate_look_ns = now_ns + LOOK_NS;
	for (size_t i = 0; i < bs->plan->event_count; i++) {
		uint64_t period = state->tallies[i].period;

		if (!is_clock(&bs->plan->events[i]) || period >= FREE_NS)
			continue;
		if (needed == 0)
			needed = period_for(measure(kernel));
		if (needed > period + period / 2)
			slow_down(bs, i, needed);
		else if (is_late(bs, i))
			slow_down(bs, i, 2 * period);
	}
}

/* ---- rings and naps ---- */

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
	uint64_t each = state->ring_bytes / (samples + 1);
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

	if (!state->has_carriers || state->layout == PERF_THREAD_RINGS)
		return SIDE_CPU;
	ppi_perf_find_rights(perf_kernel_of(bs->kernel), &rights);
	if (!rights.can_lock && rights.paranoid != -1)
		return SIDE_CPU;
	while (bytes > SIDE_CPU && bytes * state->cpu_count > SIDE_ALL_FREE)
		bytes /= 2;
	return bytes;
}

void ppi_perf_size_rings(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
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
	if (bs->plan->ring_bytes)
		wanted = bs->plan->ring_bytes;
	state->ring_bytes = state->page_bytes;
	while (state->ring_bytes < wanted && state->ring_bytes < 64u << 20)
		state->ring_bytes *= 2;
	state->side_bytes = side_of_cpu(bs);
	if (state->layout == PERF_THREAD_RINGS &&
	    bs->plan->target.kind != PPI_TARGET_TID)
		state->side_bytes = SIDE_THREAD;
	if (state->side_bytes < state->page_bytes)
		state->side_bytes = state->page_bytes;
}

/* How long it takes until a ring is half full. */
static unsigned half_full_ms(const struct ppi_backend_session *bs,
                             bool at_the_fastest)
{
	const struct perf_state *state = perf_state_of(bs);
	uint64_t per_second = expected_load(bs, at_the_fastest);
	uint64_t ms = state->ring_bytes * 500 / per_second;
	/* a larger ring is for worse storms, not for longer naps */
	uint64_t side_bytes = state->side_bytes < SIDE_CPU ? state->side_bytes
	                                                   : SIDE_CPU;
	uint64_t side_ms = side_bytes * 500 / SIDE_BYTES_PER_SECOND;

	if (state->has_carriers && side_ms < ms)
		ms = side_ms;
	ms = ms < NAP_MIN_MS ? NAP_MIN_MS : ms;
	return ms < bs->drain_every_ms ? (unsigned)ms : bs->drain_every_ms;
}

/* Come back before a ring is more than half full. Naps get longer, up to
 * nap_ms, while rings stay empty. With thread rings a new thread is measured
 * from the drain on that finds its creator's FORK record. */
void ppi_perf_choose_nap(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	enum ppi_target_kind kind = bs->plan->target.kind;
	unsigned most = half_full_ms(bs, false);

	if (state->layout == PERF_THREAD_RINGS &&
	    (kind == PPI_TARGET_PROCESS || kind == PPI_TARGET_PID) &&
	    most > NAP_NEW_THREADS_MS)
		most = NAP_NEW_THREADS_MS;
	state->nap_ms = most;
	bs->drain_every_ms = half_full_ms(bs, true);
	/* chains that small copies cut are seen soon, or never */
	if (state->small_stack && most > NAP_SMALL_STACKS_MS)
		most = NAP_SMALL_STACKS_MS;
	if (bs->drain_every_ms > most)
		bs->drain_every_ms = most;
}
