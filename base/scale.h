/* SPDX-License-Identifier: MIT */
/* value * enabled / running of 64-bit numbers, in full precision. */
#ifndef PPI_SCALE_H
#define PPI_SCALE_H

#include <stdint.h>

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

#endif
