/* SPDX-License-Identifier: MIT */
/* Clocks in nanoseconds, and how often the kernel's own one moves on. */
#ifndef PPI_CLOCK_NS_H
#define PPI_CLOCK_NS_H

#include <stdint.h>
#include <time.h>
#include <unistd.h>

static inline uint64_t ppi_ns_of(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

static inline struct timespec ppi_time_of(uint64_t ns)
{
	struct timespec time = { .tv_sec = (time_t)(ns / 1000000000u),
		                 .tv_nsec = (long)(ns % 1000000000u) };

	return time;
}

/* -1 and errno on failure. Async-signal-safe. */
static inline int ppi_clock_ns(clockid_t clock, uint64_t *ns)
{
	struct timespec now;

	if (clock_gettime(clock, &now) != 0)
		return -1;
	*ns = ppi_ns_of(&now);
	return 0;
}

/*
 * The same from the kernel itself: a preloaded library may have a
 * clock_gettime of its own that reports another time, or takes a lock
 * (libfaketime). Async-signal-safe whatever is preloaded. Where a system call
 * has another struct timespec than the C library: the C library's.
 */
int ppi_kernel_clock_ns(clockid_t clock, uint64_t *ns);

/* CLOCK_MONOTONIC, which every system has. Async-signal-safe. */
static inline uint64_t ppi_monotonic_ns(void)
{
	uint64_t ns = 0;

	ppi_clock_ns(CLOCK_MONOTONIC, &ns);
	return ns;
}

/*
 * The kernel's tick: the coarse clock moves on with it, and clock_getres(2)
 * tells its step (linux/kernel/time/posix-timers.c, KTIME_LOW_RES). 0 where
 * there is no such clock.
 */
static inline uint64_t ppi_kernel_tick_ns(void)
{
	struct timespec tick = { 0, 0 };

#ifdef CLOCK_MONOTONIC_COARSE
	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
#endif
	return ppi_ns_of(&tick);
}

static inline unsigned ppi_cpu_count(void)
{
#ifdef _SC_NPROCESSORS_ONLN
	long count = sysconf(_SC_NPROCESSORS_ONLN);

	return count > 0 ? (unsigned)count : 1;
#else
	return 1;
#endif
}

#endif
