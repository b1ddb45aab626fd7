/* SPDX-License-Identifier: MIT */
/* What a sampling interrupt takes here, and how often a clock may interrupt. */
#ifndef PERF_RATE_H
#define PERF_RATE_H

#include "backends/perf/kernel/perf_kernel.h"

/* kernel/events/core.c, perf_swevent_start_hrtimer: a shorter one is
 * stretched, but reported as asked. */
enum { PERF_PERIOD_MIN_NS = 10000 };

/* So long a period is granted without measuring. */
enum { PERF_PERIOD_FREE_NS = 1000000 };

/* Time of one sampling interrupt here; measured for 2 ms by the first who asks
 * in this process, 0 where that failed. */
uint64_t ppi_perf_rate_interrupt_ns(const struct perf_kernel *kernel);

/* The shortest period of which an interrupt, as measured now, takes no more than a
 * quarter. */
uint64_t ppi_perf_rate_harmless_ns(const struct perf_kernel *kernel);

/* Time of a switch between threads that do not have copies of the same events. */
uint64_t ppi_perf_rate_switch_ns(const struct perf_kernel *kernel);

/* Samples a second that the sysctl allows: UINT64_MAX where it limits none. */
uint64_t ppi_perf_rate_allowed_hz(const struct perf_kernel *kernel);

/*
 * The period of a rate. One that is in step with the scheduler's tick is made a
 * little shorter: threads are switched at ticks, so a clock of a CPU would meet
 * each of their slices at one moment only, and take two threads that share a CPU
 * in other parts than they had (30 % off was seen at 250 samples and ticks a
 * second).
 */
uint64_t ppi_perf_rate_period(const struct perf_kernel *kernel,
                              uint64_t rate_hz);

/* The period asked for, or the shortest at which samples take no more than a
 * quarter of a CPU. Measures only for more than 1000 samples a second. */
uint64_t ppi_perf_rate_grant(const struct perf_kernel *kernel,
                             uint64_t period_ns);

#endif
