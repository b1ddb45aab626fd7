/* SPDX-License-Identifier: MIT */
/* One function of a profile, line by line and instruction by instruction. */
#ifndef PPI_CODE_H
#define PPI_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/view/names.h"
#include "tools/view/rows.h"

/* A line of a source file, or the address of an instruction in its file. */
struct ppi_code_part {
	const char *file; /* of lines */
	uint64_t at, weight;
};

/* A source file that the function has lines of: inlined code is of others. */
struct ppi_code_file {
	const char *name;
	uint64_t weight;
};

struct ppi_code {
	const char *function, *module, *path;
	uint64_t weight; /* its own */
	struct ppi_code_part *lines, *addresses; /* sorted by file, at */
	size_t line_count, address_count;
	struct ppi_code_file *files; /* most of the weight first */
	size_t file_count;           /* 0: unknown */
	uint64_t start; /* of the function in its file; 0 unknown */
};

/* The hottest function that is meant by `wanted` (ppi_is_function); function
 * is NULL when there is none. `named`: the view's names, which get its lines. False
 * when out of memory. */
bool ppi_code_find(const struct ppi_view *view, const struct ppi_named *named,
                   const char *wanted, struct ppi_code *code);
/* The same for the function of a row. */
bool ppi_code_of(const struct ppi_view *view, const struct ppi_row *row,
                 struct ppi_code *code);
void ppi_code_free(struct ppi_code *code);

/* ---- what of them is shown ---- */

/* A line that is shown; `has_gap`: lines before it are left out. */
struct ppi_shown_line {
	uint64_t at, weight;
	char *text;
	bool has_gap;
};

struct ppi_listing {
	struct ppi_shown_line *lines;
	size_t count;
	char why[200]; /* nothing is there, or it may be wrong: a sentence;
	                * "" */
};

/* The lines of a file of its (NULL: none is known), and its instructions, that
 * have weight, with `around` beside them. */
void ppi_listing_source(const struct ppi_code *code, const char *file,
                        unsigned around, struct ppi_listing *listing);
void ppi_listing_instructions(const struct ppi_code *code, unsigned around,
                              struct ppi_listing *listing);
void ppi_listing_free(struct ppi_listing *listing);

#endif
