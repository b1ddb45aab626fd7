/* SPDX-License-Identifier: MIT */
/*
 * The CPU's own counter, which any program may read: in a third of the time that a
 * clock takes.
 */
#ifndef PPI_CYCLES_H
#define PPI_CYCLES_H

#include <stdbool.h>
#include <stdint.h>

#if defined __x86_64__ && !defined __ILP32__ && defined __GNUC__

enum { PPI_HAS_CYCLES = 1 };

/*
 * No fence holds it back, so it may be read before what stands in front of it is done.
 * An interrupt comes between two instructions all the same: what stands behind it is
 * begun again afterwards.
 */
static inline uint64_t ppi_cycles(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

/* Not before all that stands in front of it is done. */
static inline uint64_t ppi_cycles_after(void)
{
	uint32_t low, high;

	__asm__ volatile("lfence\n\trdtsc"
	                 : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

#elif defined __aarch64__ && !defined __ILP32__ && defined __GNUC__

enum { PPI_HAS_CYCLES = 1 };

static inline uint64_t ppi_cycles(void)
{
	uint64_t value;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(value) : : "memory");
	return value;
}

static inline uint64_t ppi_cycles_after(void)
{
	uint64_t value;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0"
	                 : "=r"(value) : : "memory");
	return value;
}

#else

enum { PPI_HAS_CYCLES = 0 };

static inline uint64_t ppi_cycles(void)
{
	return 0;
}

static inline uint64_t ppi_cycles_after(void)
{
	return 0;
}

#endif

/* Whether this process may read it, and it has one pace on all CPUs. */
bool ppi_cycles_are_even(void);

#endif
