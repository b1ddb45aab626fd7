/* SPDX-License-Identifier: MIT */
/* What a program's file offers to a profiler. */
#ifndef PPI_DOCTOR_ELF_H
#define PPI_DOCTOR_ELF_H

#include <stdbool.h>

struct ppi_program {
	bool is_static;
	bool has_names;     /* of all functions: .symtab */
	bool has_lines;     /* .debug_info or .debug_line */
	bool is_known;      /* the instructions of this CPU are */
	char build_id[80];  /* hexadecimal; "" none */
	unsigned functions; /* that were looked at */
	unsigned framed;    /* of them, that keep a frame pointer */
	unsigned tabled;    /* of all functions, that have frame tables */
};

/* 0, or why not: an errno, or -1 for a file that is no program, -2 when this
 * build cannot read any (without libelf). */
int ppi_program_read(const char *path, struct ppi_program *program);

#endif
