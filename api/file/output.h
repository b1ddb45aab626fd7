/* SPDX-License-Identifier: MIT */
/* The output path: a file that appears when there is something in it, keeps
 * what was there before, and is whole after each portion. */
#ifndef PPI_FILE_OUTPUT_H
#define PPI_FILE_OUTPUT_H

#include <sys/types.h>

#include "backends/backend.h"

/* A file under another name until it takes its place. */
struct ppi_draft {
	char *path, *name; /* of the result; of the draft */
	int fd;            /* -1: none; read and append */
};

/* Make a draft beside `path`: everything that can be wrong with the path is
 * found now, and said. */
portprof_status ppi_draft_open(struct ppi_draft *draft, const char *path,
                               struct ppi_diag *why);
/* Rename it over `path`; it stays open. 0 or an errno. */
int ppi_draft_place(struct ppi_draft *draft);
/* Close; take the draft away unless it was placed. */
void ppi_draft_close(struct ppi_draft *draft, bool remove);

struct ppi_output {
	struct ppi_draft draft;
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

/* The status that an errno of a file operation stands for. */
portprof_status ppi_file_status(int os_errno);

#endif
