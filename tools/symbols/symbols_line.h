/* SPDX-License-Identifier: MIT */
/* The frame and the source line that a file has for an address. */
#ifndef PPI_SYMBOLS_LINE_H
#define PPI_SYMBOLS_LINE_H

#include <stdint.h>

/* Whether the caller's frame can be found by the frame pointer. */
enum ppi_frame_pointer {
	PPI_FRAME_UNKNOWN,
	PPI_FRAME_KEPT,
	PPI_FRAME_NONE
};

/* A place in a source file; of an inlined call, also whose code it is. */
struct ppi_symbol_line {
	const char *function; /* NULL: the symbol's */
	const char *file;
	uint64_t line; /* 0 unknown */
};

#endif
