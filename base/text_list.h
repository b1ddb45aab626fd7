/* SPDX-License-Identifier: MIT */
/* Lists the executable mappings of this process. */
#ifndef PPI_TEXT_LIST_H
#define PPI_TEXT_LIST_H

#include <stddef.h>
#include <stdint.h>

/* Code mapped into the process: [start, end). */
struct ppi_text {
	uint64_t start, end;
};

/*
 * All that the dynamic loader knows of, the program's own first. At most
 * `room` are stored; returns how many there are. Takes the loader's lock.
 */
size_t ppi_text_list(struct ppi_text *out, size_t room);

#endif
