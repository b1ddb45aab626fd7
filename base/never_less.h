/* SPDX-License-Identifier: MIT */
/* A value that several threads report and that must not fall. */
#ifndef PPI_NEVER_LESS_H
#define PPI_NEVER_LESS_H

#include <stdatomic.h>
#include <stdint.h>

/* The value, or the highest of before, which it becomes if it is higher. */
static inline uint64_t ppi_never_less(_Atomic uint64_t *highest, uint64_t value)
{
	uint64_t before = atomic_load_explicit(highest, memory_order_relaxed);

	while (before < value)
		if (atomic_compare_exchange_weak_explicit(
			    highest, &before, value, memory_order_relaxed,
			    memory_order_relaxed))
			return value;
	return before;
}

#endif
