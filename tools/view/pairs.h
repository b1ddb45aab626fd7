/* SPDX-License-Identifier: MIT */
/* Pairs of numbers, each pair numbered in the order of its first coming. */
#ifndef PPI_REPORT_PAIRS_H
#define PPI_REPORT_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PPI_NO_PAIR UINT32_MAX

/* All zero is empty. */
struct ppi_pairs {
	uint64_t *pairs; /* by number */
	uint32_t count;
	uint32_t *slots;   /* number + 1; 0 is free */
	size_t slot_count; /* a power of two, or 0 */
};

/* The number of a pair, entered when it is new (`count` has then grown by
 * one). PPI_NO_PAIR when out of memory. */
uint32_t ppi_pairs_enter(struct ppi_pairs *pairs, uint32_t left,
                         uint32_t right);

/* The number of a pair, or PPI_NO_PAIR. */
uint32_t ppi_pairs_find(const struct ppi_pairs *pairs, uint32_t left,
                        uint32_t right);

void ppi_pairs_free(struct ppi_pairs *pairs);

#endif
