/* SPDX-License-Identifier: MIT */
/* Instructions of a frame table that may be handed to libdw. */
#ifndef PPI_UNWIND_CALL_FRAMES_H
#define PPI_UNWIND_CALL_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A place in bytes of somebody else; past the end it reads zeros. */
struct ppi_cfi {
	const unsigned char *at, *end;
	bool is_past; /* it was asked for more than there is, or for nonsense */
};

/* `bytes` of them, 8 at most, little-endian. */
uint64_t ppi_cfi_number(struct ppi_cfi *cursor, size_t bytes);
uint64_t ppi_cfi_uleb(struct ppi_cfi *cursor);
void ppi_cfi_skip(struct ppi_cfi *cursor, uint64_t bytes);

/*
 * Whether carrying out these instructions takes little memory. libdw makes
 * room for every register up to the one that is named, for every remembered
 * state and for every operation of an expression. `pointer_bytes` is the size
 * of an address in the table.
 */
bool ppi_call_frames_are_modest(struct ppi_cfi program,
                                size_t pointer_bytes);

#endif
