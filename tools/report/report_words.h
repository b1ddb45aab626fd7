/* SPDX-License-Identifier: MIT */
/* Weights and shares as people read them. */
#ifndef PPI_REPORT_WORDS_H
#define PPI_REPORT_WORDS_H

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

/* Text of a file's, which must not steer a terminal. */
void ppi_put_text(const char *text, FILE *out);

/* 0 of nothing. */
double ppi_percent(uint64_t part, uint64_t whole);

#endif
