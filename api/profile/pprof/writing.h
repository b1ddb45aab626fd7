/* SPDX-License-Identifier: MIT */
/* A profile on its way into a file. */
#ifndef PPI_FILE_WRITING_H
#define PPI_FILE_WRITING_H

#include "api/profile/pprof/encode.h"
#include "api/profile/model.h"

struct ppi_writing {
	const portprof_profile *profile;
	struct ppi_encoder encoder;
	struct ppi_pool texts;   /* the string table of the file */
	struct ppi_arena arena;  /* of messages */
};

/* The number of a text in the file; without memory the writing fails. */
int64_t ppi_writing_text(struct ppi_writing *writing, const char *text);
/* The same for a string of the profile, which may hold zero bytes. */
int64_t ppi_writing_string(struct ppi_writing *writing, uint32_t string);
void ppi_writing_fail(struct ppi_writing *writing, int os_errno);

/* Types, mappings, functions and locations; then samples. */
void ppi_writing_tables(struct ppi_writing *writing);
void ppi_writing_samples(struct ppi_writing *writing);

#endif
