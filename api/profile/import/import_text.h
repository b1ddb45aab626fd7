/* SPDX-License-Identifier: MIT */
/* The text of a file, whatever it is wrapped in: gunzipped, in UTF-8 and without
 * a byte order mark. */
#ifndef PPI_FILE_IMPORT_TEXT_H
#define PPI_FILE_IMPORT_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct ppi_import_text {
	void *file; /* gzFile; without zlib FILE */
	enum { PPI_TEXT_8, PPI_TEXT_16_LITTLE, PPI_TEXT_16_BIG } coding;
	unsigned char left[4]; /* bytes of a character that are still to come */
	size_t left_count;
	int pushed; /* a byte, or a unit of UTF-16, read too far; -1: none */
	int error;
	const char *damage; /* why the text ends early, or NULL */
};

/* False with errno. */
bool ppi_import_text_open(struct ppi_import_text *text, const char *path);
void ppi_import_text_close(struct ppi_import_text *text);

/* Back to the beginning. */
bool ppi_import_text_rewind(struct ppi_import_text *text);

/* The next byte, or EOF; then `error` is an errno or 0. */
int ppi_import_text_byte(struct ppi_import_text *text);

#endif
