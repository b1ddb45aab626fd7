/* SPDX-License-Identifier: MIT */
/* Suggests close matches for an unknown name. */
#ifndef PPI_GUESS_H
#define PPI_GUESS_H

#include <stdbool.h>
#include <stddef.h>

enum { PPI_GUESSES = 3 };

/* Names that are like `wanted`, the likest first. Begin with all else zero. */
struct ppi_guess {
	const char *wanted;
	const char *names[PPI_GUESSES];
	size_t distances[PPI_GUESSES];
	size_t count;
};

/* Consider a name, which has to outlive the guess. */
void ppi_guess_offer(struct ppi_guess *guess, const char *name);

/* "; did you mean A, B or C?", each with `before` before it; "" when nothing
 * is like it. Returns `out`. */
const char *ppi_guess_words(const struct ppi_guess *guess, const char *before,
                            char *out, size_t bytes);

#endif
