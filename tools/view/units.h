/* SPDX-License-Identifier: MIT */
/* Weights and shares as people read them. */
#ifndef PPI_REPORT_UNITS_H
#define PPI_REPORT_UNITS_H

#include <portprof.h>

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* How weights of one report are written: all in the same unit. */
struct ppi_scale {
	double divisor;
	int digits;
	const char *unit;
};

struct ppi_scale ppi_scale_of(portprof_unit unit, uint64_t largest);

/* Returns `out`. */
const char *ppi_say_weight(struct ppi_scale scale, uint64_t weight, char *out,
                           size_t bytes);

/* 0 of nothing. */
/* "-" before a number in words that is below 0, but for one that is rounded to
 * 0. */
const char *ppi_minus(const char *number);

double ppi_percent(uint64_t part, uint64_t whole);

#endif
