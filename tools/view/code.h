/* SPDX-License-Identifier: MIT */
/* One function of a profile, line by line and instruction by instruction. */
#ifndef PPI_ANNOTATE_CODE_H
#define PPI_ANNOTATE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
	uint64_t start;              /* of the function in its file; 0 unknown */
};

/* The hottest function that is meant by `wanted` (ppi_is_function); function
 * is NULL when there is none. False when out of memory. */
bool ppi_code_find(const struct ppi_view *view, const char *wanted,
                   struct ppi_code *code);
/* The same for the function of a row. */
bool ppi_code_of(const struct ppi_view *view, const struct ppi_row *row,
                 struct ppi_code *code);
void ppi_code_free(struct ppi_code *code);

/* An instruction: at most the first `room` from `start` to behind the last
 * that was sampled, as objdump prints them. */
struct ppi_instruction {
	uint64_t address, weight;
	char *text;
};

/* How many; 0 and a sentence in `why` when objdump cannot be asked. */
size_t ppi_code_disassemble(const struct ppi_code *code,
                            struct ppi_instruction **instructions,
                            char *why, size_t why_bytes);
void ppi_code_free_instructions(struct ppi_instruction *instructions,
                                size_t count);

#endif
