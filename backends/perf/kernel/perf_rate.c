/* SPDX-License-Identifier: MIT */
/*
 * How often a clock may interrupt: never for more than a quarter of a CPU.
 *
 * The kernel's own guard (kernel/events/core.c, __perf_event_account_interrupt)
 * counts interrupts a tick, not their time. Where one takes longer than the
 * period, the program never runs again: 33 us each at a period of 10 us held a
 * CPU of a virtual machine until the profiled program was killed.
 */
#include "backends/perf/kernel/perf_rate.h"

#include "backends/perf/kernel/perf_attr.h"
#include "backends/perf/kernel/perf_proc.h"

#include <time.h>

enum {
	TRIALS = 8,           /* interrupts to measure */
	TRIAL_NS = 250000,    /* one each so much: known to be harmless */
	PREEMPTED_NS = 500000, /* a longer gap is another thread's time slice */
	READS_MAX = 400000,   /* a clock that stands still */
	SHARE = 4,            /* a sample has at most 1/SHARE of its period */
	STEP_NS = 10000,      /* periods are granted in steps of this */
	PHASES = 4,           /* more moments of a tick are as good as all */
	IN_STEP = 1000,       /* closer to ticks than 1/IN_STEP of one */
	OUT_OF_STEP = 127,    /* 1/OUT_OF_STEP shorter, all moments are met */
	RATE_LIMIT_HZ = 100000 /* of the sysctl, when it cannot be read */
};

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

uint64_t ppi_perf_rate_harmless_ns(const struct perf_kernel *kernel)
{
	return period_for(measure(kernel));
}

uint64_t ppi_perf_rate_allowed_hz(const struct perf_kernel *kernel)
{
	int64_t most = ppi_perf_proc_number(
		kernel, "/proc/sys/kernel/perf_event_max_sample_rate",
		RATE_LIMIT_HZ);

	return most > 0 ? (uint64_t)most : UINT64_MAX;
}

/* Whether each few samples come at the same moments of ticks. */
static bool is_in_step(uint64_t period_ns, uint64_t tick_ns)
{
	bool is_near = false;

	for (unsigned count = 1; count <= PHASES; count++) {
		uint64_t past = count * period_ns % tick_ns;
		uint64_t away = past < tick_ns - past ? past : tick_ns - past;

		is_near |= away < tick_ns / IN_STEP;
	}
	return is_near;
}

uint64_t ppi_perf_rate_period(const struct perf_kernel *kernel,
                              uint64_t rate_hz)
{
	uint64_t period_ns = 1000000000u / rate_hz;
	uint64_t tick_ns = kernel->get_tick_ns(kernel->self);

	if (tick_ns > 0 && is_in_step(period_ns, tick_ns))
		period_ns -= period_ns / OUT_OF_STEP;
	return period_ns;
}

uint64_t ppi_perf_rate_grant(const struct perf_kernel *kernel,
                             uint64_t period_ns)
{
	uint64_t least = PERF_PERIOD_MIN_NS;

	if (period_ns < PERF_PERIOD_FREE_NS) {
		uint64_t harmless =
			period_for(ppi_perf_rate_interrupt_ns(kernel));

		least = harmless > least ? harmless : least;
	}
	return period_ns < least ? least : period_ns;
}

/* ---- what measuring adds ---- */

/*
 * A clock of this thread stops and starts, as it does where threads are switched
 * that do not have copies of the same events. The middle one of some: beside busy
 * threads one of them has another's slice of time in it.
 */
uint64_t ppi_perf_rate_switch_ns(const struct perf_kernel *kernel)
{
	enum { SWITCHES = 2 * TRIALS };
	uint64_t longest[TRIALS] = { 0 }, began = 0, ended = 0;
	int fd = open_trial(kernel);
	bool is_good = fd >= 0;

	for (unsigned i = 0; i < SWITCHES && is_good; i++) {
		is_good = kernel->get_clock(kernel->self, CLOCK_MONOTONIC,
		                            &began) == 0 &&
		          kernel->control(kernel->self, fd,
		                          PERF_EVENT_IOC_DISABLE, NULL) == 0 &&
		          kernel->control(kernel->self, fd,
		                          PERF_EVENT_IOC_ENABLE, NULL) == 0 &&
		          kernel->get_clock(kernel->self, CLOCK_MONOTONIC,
		                            &ended) == 0;
		keep_gap(longest, ended - began);
	}
	if (fd >= 0)
		kernel->close_event(kernel->self, fd, PERF_FRESH);
	return is_good ? longest[TRIALS - 1] : 0;
}
