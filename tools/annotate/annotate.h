/* SPDX-License-Identifier: MIT */
/* Source and instructions of a function, to be shown. */
#ifndef PPI_ANNOTATE_H
#define PPI_ANNOTATE_H

#include "tools/view/code.h"

/* A line that is shown; `has_gap`: lines before it are left out. */
struct ppi_shown_line {
	uint64_t at, weight;
	char *text;
	bool has_gap;
};

struct ppi_listing {
	struct ppi_shown_line *lines;
	size_t count;
	char why[200]; /* nothing is there, a sentence; "" */
};

/* The lines of a file of its (NULL: none is known), and its instructions, that
 * have weight, with `around` beside them. */
void ppi_listing_source(const struct ppi_code *code, const char *file,
                        unsigned around, struct ppi_listing *listing);
void ppi_listing_instructions(const struct ppi_code *code, unsigned around,
                           struct ppi_listing *listing);
void ppi_listing_free(struct ppi_listing *listing);

/* The code of the hottest functions as JSON for a page, to be freed; NULL when
 * out of memory. */
char *ppi_code_json(const struct ppi_view *view);

#endif
