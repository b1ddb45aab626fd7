/* SPDX-License-Identifier: MIT */
/* Whether an address in a call chain can be a return address: one that follows
 * a call. */
#ifndef PPI_FILE_RETURNS_H
#define PPI_FILE_RETURNS_H

#include "api/profile/locations.h"

struct ppi_returns {
	struct ppi_locations *locations;
	struct ppi_vector files;    /* struct ppi_returns_file, by mapping */
	struct ppi_vector verdicts; /* uint8_t, by location */
	uint64_t base;              /* the locations' when they were made */
};

void ppi_returns_open(struct ppi_returns *returns,
                      struct ppi_locations *locations);
void ppi_returns_close(struct ppi_returns *returns);

/*
 * False when the text in front of the location was read and has no call there,
 * so that no function returns to it: what the stack held was no return address.
 * `id` is a location; its address is one less than the return address. The
 * file is asked once a location, and only if it still is the one that was
 * mapped.
 */
bool ppi_returns_can_be(struct ppi_returns *returns, uint64_t id);

/*
 * The location of such a caller itself: the same one, unless a signal handler
 * returns there. No call stands before that code, so it is looked up by its
 * first byte; one less is another function. 0: out of memory.
 */
uint64_t ppi_returns_exact(struct ppi_returns *returns, uint64_t id);

#endif
