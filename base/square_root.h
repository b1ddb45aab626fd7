/* SPDX-License-Identifier: MIT */
/* A square root without the mathematical library. */
#ifndef PPI_SQUARE_ROOT_H
#define PPI_SQUARE_ROOT_H

#include <stdint.h>

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
