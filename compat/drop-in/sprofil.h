/* SPDX-License-Identifier: MIT */
/* The regions of sprofil(): which region and bin an address belongs to. */
#ifndef PPI_SPROFIL_H
#define PPI_SPROFIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One that was asked for. */
struct ppi_wanted {
	void *base;
	uint64_t bins;   /* how many fit */
	uint64_t offset;
	uint32_t scale;
};

/* Text [start, end) that is counted in bins of wanted region `owner`. */
struct ppi_piece {
	uint64_t start, end;
	size_t owner;
};

struct ppi_pieces {
	struct ppi_piece *list; /* by start, disjoint */
	size_t count;
	unsigned unit;    /* bytes of text to a bin at scale 65536: 2 or 4 */
	size_t overflow;  /* the wanted region for what no piece holds */
	bool has_overflow;
};

/*
 * Where regions overlap, the one with the higher offset gets the text, and
 * those below it what is left, still counted from their own offsets; of equal
 * offsets the first. A scale below 2 is no region; offset 0 with scale 2 is
 * the overflow bin, too. False when out of memory.
 */
bool ppi_pieces_make(struct ppi_pieces *pieces,
                     const struct ppi_wanted *wanted, size_t count,
                     unsigned unit);

void ppi_pieces_free(struct ppi_pieces *pieces);

/* Which bin of which wanted region; false when none. */
bool ppi_pieces_find(const struct ppi_pieces *pieces,
                     const struct ppi_wanted *wanted, uint64_t pc,
                     size_t *owner, uint64_t *bin);

#endif
