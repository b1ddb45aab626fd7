/* SPDX-License-Identifier: MIT */
/*
 * The frame table (.eh_frame) of one 64-bit ELF file: finding the entry of an
 * address. The file is somebody else's, so nothing in it is believed: sizes are
 * bounded, and an entry is given only when it is modest
 * (ppi_call_frames_are_modest).
 */
#ifndef PPI_UNWIND_FRAME_TABLE_H
#define PPI_UNWIND_FRAME_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ppi_frame_table;

/* What describes one function: its entry (FDE) and the one that this shares
 * with others (CIE), as they are in the table, each with its length before it. */
struct ppi_frame_entry {
	const unsigned char *common, *own;
	size_t common_bytes, own_bytes;
	uint64_t own_address; /* of `own` in memory, before relocation */
	uint64_t start;       /* the address where it begins */
};

/* Where a file is read: `read` is false unless it has all of the bytes. */
struct ppi_frame_source {
	bool (*read)(void *context, uint64_t offset, void *bytes, size_t count);
	void *context;
	bool is_mapped; /* by a process, so that sections are not there */
};

/*
 * The source may be closed afterwards. NULL when the file is for another machine
 * (ELF's number), has another build-id (unless `build_id_bytes` is 0; it may be the
 * beginning of one) or no table.
 */
struct ppi_frame_table *ppi_frame_table_open(
	uint16_t machine, const struct ppi_frame_source *source,
	const unsigned char *build_id, size_t build_id_bytes);
void ppi_frame_table_close(struct ppi_frame_table *table);

/* The memory that it takes. */
size_t ppi_frame_table_bytes(const struct ppi_frame_table *table);

/* From a place in the file to its address; false: no code is there. */
bool ppi_frame_table_address(const struct ppi_frame_table *table,
                             uint64_t file_offset, uint64_t *address);

/* The entry that begins at or last before the address. Whether it reaches that
 * far is for the reader of the entry to say. */
bool ppi_frame_table_find(const struct ppi_frame_table *table,
                          uint64_t address, struct ppi_frame_entry *entry);

/* A place in bytes of somebody else; past the end it reads zeros. */
struct ppi_cfi {
	const unsigned char *at, *end;
	bool is_past; /* it was asked for more than there is, or for nonsense */
};

/*
 * Whether carrying out these instructions takes little memory. libdw makes
 * room for every register up to the one that is named, for every remembered
 * state and for every operation of an expression. `pointer_bytes` is the size
 * of an address in the table.
 */
bool ppi_call_frames_are_modest(struct ppi_cfi program,
                                size_t pointer_bytes);

#endif
