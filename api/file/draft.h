/* SPDX-License-Identifier: MIT */
/* A file that takes its place when it is whole. */
#ifndef PPI_FILE_DRAFT_H
#define PPI_FILE_DRAFT_H

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

/* The status that an errno of a file operation stands for. */
portprof_status ppi_file_status(int os_errno);

/* Whether a file may not have this size: a write past the limit would raise
 * SIGXFSZ, which ends the program (setrlimit(2)). */
bool ppi_file_is_limited(uint64_t size);

#endif
