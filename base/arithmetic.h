/* SPDX-License-Identifier: MIT */
/* Arithmetic of 64-bit numbers that the C library lacks: scaling in full precision, a
 * maximum that threads share, a square root. */
#ifndef PPI_ARITHMETIC_H
#define PPI_ARITHMETIC_H

#include <stdatomic.h>
#include <stdint.h>

/* ---- value * enabled / running ---- */

/* The product has 128 bits: where the compiler has no such type it is in two
 * halves, and divided bit by bit. */
static inline uint64_t ppi_scale_by_halves(uint64_t value, uint64_t enabled,
                                           uint64_t running)
{
	const uint64_t half = UINT32_MAX;
	uint64_t low = (value & half) * (enabled & half);
	uint64_t cross = (value >> 32) * (enabled & half) + (low >> 32);
	uint64_t other = (value & half) * (enabled >> 32) + (cross & half);
	uint64_t high = (value >> 32) * (enabled >> 32) + (cross >> 32) +
	                (other >> 32);

	low = other << 32 | (low & half);
	if (high >= running)
		return UINT64_MAX;
	for (unsigned bit = 0; bit < 64; bit++) {
		uint64_t carry = high >> 63;

		high = high << 1 | low >> 63;
		low <<= 1;
		if (carry || high >= running) {
			high -= running;
			low |= 1;
		}
	}
	return low;
}

/* UINT64_MAX for what does not fit; `running` is not 0. */
static inline uint64_t ppi_scale(uint64_t value, uint64_t enabled,
                                 uint64_t running)
{
#ifdef __SIZEOF_INT128__
	unsigned __int128 product = (unsigned __int128)value * enabled /
	                            running;

	return product > UINT64_MAX ? UINT64_MAX : (uint64_t)product;
#else
	return ppi_scale_by_halves(value, enabled, running);
#endif
}

/* ---- a value that several threads report and that must not fall ---- */

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

/* ---- a square root without the mathematical library ---- */

/* Newton's method, from above: the guess falls until it is the root. Fractions are
 * cut off; 0 for what is not above 0. */
static inline uint64_t ppi_square_root(double square)
{
	double guess = square > 1 ? square : 1, better;

	while ((better = (guess + square / guess) / 2) < guess)
		guess = better;
	return square > 0 ? (uint64_t)guess : 0;
}

#endif
