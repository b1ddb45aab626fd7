/* SPDX-License-Identifier: MIT */
/* The clock by which tools wait and measure. */
#ifndef TOOLS_CLOCK_H
#define TOOLS_CLOCK_H

#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC. Async-signal-safe. */
static inline uint64_t ppi_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
