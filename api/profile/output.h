/* SPDX-License-Identifier: MIT */
/* The output path: a file that appears when there is something in it, keeps
 * what was there before, and is whole after each portion. */
#ifndef PPI_FILE_OUTPUT_H
#define PPI_FILE_OUTPUT_H

#include <sys/types.h>

#include "api/profile/atomic_file.h"

struct ppi_output {
	struct ppi_atomic_file draft;
	uint64_t size;  /* bytes of whole portions */
	bool is_placed; /* the file has its name */
	bool is_torn;   /* behind `size` lies part of a portion */
};

/* No side effect but a draft beside `path`. */
portprof_status ppi_output_open(struct ppi_output *output, const char *path,
                                struct ppi_diag *why);

/* Append a portion in one write. 0, or an errno and the file is as it was. */
int ppi_output_append(struct ppi_output *output, const void *bytes,
                      size_t count);

/* Give the file its name, when it has none yet; what was there before
 * becomes PATH.old. 0 or an errno. */
int ppi_output_place(struct ppi_output *output);

/* Whether PATH is the file being written, or nothing is there any more. */
bool ppi_output_is_ours(const struct ppi_output *output);

/* In a forked child nothing is removed. */
void ppi_output_close(struct ppi_output *output, bool is_child);

#endif
