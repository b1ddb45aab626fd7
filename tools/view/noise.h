/* SPDX-License-Identifier: MIT */
/* How far chance alone moves the weight of a function from run to run. */
#ifndef PPI_DIFF_NOISE_H
#define PPI_DIFF_NOISE_H

#include <stddef.h>

/*
 * Samples fall on a function as if by chance, so that a weight w that samples
 * of weight q make up has a standard error of sqrt(w q). The error of a
 * change; of what neither profile has it is that of one sample.
 */
double ppi_noise_error(double before, double before_sample, double after,
                       double after_sample);

/*
 * How many standard errors a change must exceed: where nothing changed, none
 * of `functions` functions does with a probability of 95 % (Bonferroni).
 */
double ppi_noise_limit(size_t functions);

#endif
