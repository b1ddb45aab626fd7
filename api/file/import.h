/* SPDX-License-Identifier: MIT */
/* Profiles that other tools wrote as text or words, into memory: what their
 * readers share. */
#ifndef PPI_FILE_IMPORT_H
#define PPI_FILE_IMPORT_H

#include <stdio.h>

#include "api/file/bounds.h"
#include "api/file/model.h"

/* A file that is being read, and the profile that it becomes. */
struct ppi_import {
	const char *path;
	FILE *file;             /* of text */
	uint64_t line;          /* number of the line in hand, from 1 */
	struct ppi_vector text; /* it, without its end; a zero byte behind */
	portprof_profile *profile;
	struct ppi_vector chain; /* uint32_t: of the sample in hand */
	struct ppi_bounds bounds;
	struct ppi_diag *why;
};

/* Which of them `bytes`, the beginning of a file, is. A text that begins with
 * none of them is of none. */
enum ppi_import_kind {
	PPI_IMPORT_NONE,
	PPI_IMPORT_FOLDED,
	PPI_IMPORT_PERF,
	PPI_IMPORT_GPERFTOOLS
};
bool ppi_import_is_perf(const char *line);
bool ppi_import_is_gperftools(const unsigned char *bytes, size_t count);

portprof_status ppi_import_folded(struct ppi_import *import);
portprof_status ppi_import_perf(struct ppi_import *import);
portprof_status ppi_import_gperftools(struct ppi_import *import);

/* ---- what they share ---- */

/* The next line; *text is NULL behind the last. It may be written to. */
portprof_status ppi_import_line(struct ppi_import *import, char **text);

/* E_FORMAT with the place: FILE:LINE: words. */
portprof_status ppi_import_bad(const struct ppi_import *import,
                               const char *words);
portprof_status ppi_import_memory(const struct ppi_import *import);

/* Add a frame to the chain in hand: code of that name, PPI_NONE as a mapping
 * where none is known; "" as a name where the address is all. */
portprof_status ppi_import_frame(struct ppi_import *import, uint32_t mapping,
                                 uint64_t address, const char *name);

/* The chain in hand, leaf first, becomes a sample of that event, and is
 * forgotten. `name`: the thread's, or NULL. */
portprof_status ppi_import_sample(struct ppi_import *import, uint32_t pid,
                                  uint32_t tid, const char *name, size_t event,
                                  uint64_t samples, uint64_t weight);

#endif
