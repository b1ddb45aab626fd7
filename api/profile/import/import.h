/* SPDX-License-Identifier: MIT */
/* Profiles that other tools wrote as text or words, into memory: what their
 * readers share. */
#ifndef PPI_FILE_IMPORT_H
#define PPI_FILE_IMPORT_H

#include "api/profile/model.h"

/* The text of a file, whatever it is wrapped in. */
struct ppi_import_text {
	void *file; /* gzFile; without zlib FILE */
	enum { PPI_TEXT_8, PPI_TEXT_16_LITTLE, PPI_TEXT_16_BIG } coding;
	unsigned char begin[8]; /* looked at for the coding, and read again */
	size_t begin_at, begin_count;
	unsigned char left[4]; /* bytes of a character that are still to come */
	size_t left_count;
	int pushed; /* a byte, or a unit of UTF-16, read too far; -1: none */
	int error;
	const char *damage; /* why the text ends early, or NULL */
};

/* False with errno. `bytes` are read at once. */
bool ppi_import_text_open(struct ppi_import_text *text, const char *path,
                          unsigned bytes);
void ppi_import_text_close(struct ppi_import_text *text);

/* Back to the beginning; false with `error`. */
bool ppi_import_text_rewind(struct ppi_import_text *text);

/* The next byte, or EOF; then `error` is an errno or 0. */
int ppi_import_text_byte(struct ppi_import_text *text);

/* A file that is being read, and the profile that it becomes. */
struct ppi_import {
	const char *path;
	struct ppi_import_text source;
	uint64_t line;          /* number of the line in hand, from 1 */
	struct ppi_vector text; /* it, without its end; a zero byte behind */
	portprof_profile *profile;
	struct ppi_vector chain; /* uint32_t: of the sample in hand */
	struct ppi_bounds bounds;
	struct ppi_diag *why;
};

/* Which of them the beginning of a file is. A text that begins with none of them
 * is of none. */
enum ppi_import_kind {
	PPI_IMPORT_NONE,
	PPI_IMPORT_FOLDED,
	PPI_IMPORT_PERF,
	PPI_IMPORT_GPERFTOOLS
};
bool ppi_import_is_perf(const char *text); /* lines, the last perhaps cut */
bool ppi_import_is_gperftools(const unsigned char *bytes, size_t count);

/* How many numbers end a line of folded stacks: 0 (it is none), 1 or 2. */
int ppi_import_folded_columns(const char *line);

/* Why a file of another kind is no profile: of a text, with the place. False
 * when it is not known; `why` is as it was then. */
bool ppi_import_explain(const char *path, struct ppi_diag *why);

portprof_status ppi_import_folded(struct ppi_import *import);
portprof_status ppi_import_perf(struct ppi_import *import);
portprof_status ppi_import_gperftools(struct ppi_import *import);

/* ---- what they share ---- */

/* The next line; *text is NULL behind the last. It may be written to. */
portprof_status ppi_import_line(struct ppi_import *import, char **text);

/* From the first line again. */
portprof_status ppi_import_again(struct ppi_import *import);

/* E_FORMAT with the place: FILE:LINE:COLUMN: words. Columns are bytes from 1. */
portprof_status ppi_import_bad(const struct ppi_import *import, size_t column,
                               const char *words);
portprof_status ppi_import_memory(const struct ppi_import *import);

/* Add a frame to the chain in hand: code of that name, PPI_NONE as a mapping
 * where none is known; "" as a name where the address is all. */
portprof_status ppi_import_frame(struct ppi_import *import, uint32_t mapping,
                                 uint64_t address, const char *name);

/* The same of several functions, the innermost first, inlined one into another. */
portprof_status ppi_import_frame_of(struct ppi_import *import,
                                    uint32_t mapping, uint64_t address,
                                    const struct ppi_line *lines,
                                    size_t count);

/* The chain in hand, leaf first, becomes a sample of that event, and is
 * forgotten. `name`: the thread's, or NULL. */
portprof_status ppi_import_sample(struct ppi_import *import, uint32_t pid,
                                  uint32_t tid, const char *name, size_t event,
                                  uint64_t samples, uint64_t weight);
/* The same of all events: counts of samples, then weights. */
portprof_status ppi_import_sample_of(struct ppi_import *import, uint32_t pid,
                                     uint32_t tid, const char *name,
                                     const uint64_t *values);

#endif
