/* SPDX-License-Identifier: MIT */
/*
 * The files of mappings: whether a path is a file at all, and what the headers
 * of an ELF file say, of any byte order and word size: where its code lies, and
 * its build ID.
 */
#ifndef PPI_FILE_IMAGE_H
#define PPI_FILE_IMAGE_H

#include "backends/backend.h"

/* ---- paths ---- */

/* Whether a path means the same bytes in every process. */
bool ppi_is_shared_file(const char *path);

/* Whether it is a jit-PID.dump, in which a process writes what code it makes
 * and when. */
bool ppi_is_code_dump(const char *path);

/* ---- ELF files ---- */

/* Code in a file: where it lies there, and at which of its addresses. */
struct ppi_image_code {
	uint64_t address, offset, bytes;
};

struct ppi_image {
	unsigned pointer_bytes;
	unsigned machine; /* gABI, e_machine */
	bool is_swapped; /* not in this machine's byte order */
	size_t code_count;
	struct ppi_image_code code[16]; /* lowest address first */
	char build_id[2 * PORTPROF_BUILD_ID_BYTES + 1]; /* "" none */
};

portprof_status ppi_image_read(const char *path, struct ppi_image *image,
                               struct ppi_diag *why);

/* The code at an offset of the file; NULL none. */
const struct ppi_image_code *ppi_image_at(const struct ppi_image *image,
                                          uint64_t offset);

#endif
