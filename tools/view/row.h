/* SPDX-License-Identifier: MIT */
/* Rows of a report, and their order. */
#ifndef PPI_REPORT_ROW_H
#define PPI_REPORT_ROW_H

#include <portprof.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/view/labels.h"
#include "tools/symbols/symbols.h"

/* What makes two samples belong to the same row. */
enum {
	PPI_BY_FUNCTION = 1u << 0,
	PPI_BY_MODULE = 1u << 1,
	PPI_BY_ADDRESS = 1u << 2,
	PPI_BY_THREAD = 1u << 3,
	PPI_BY_PROCESS = 1u << 4,
	PPI_BY_LINE = 1u << 5,
	PPI_BY_COMM = 1u << 6, /* threads of one name are one */
	PPI_BY_LABEL = 1u << 7, /* of the view's name */

	/* Sets of them. */
	PPI_BY_CODE =
		PPI_BY_FUNCTION | PPI_BY_MODULE | PPI_BY_ADDRESS | PPI_BY_LINE,
	PPI_BY_OWNER = PPI_BY_THREAD | PPI_BY_PROCESS | PPI_BY_COMM,
	PPI_BY_SAMPLE = PPI_BY_OWNER | PPI_BY_LABEL
};

/* What of a profile is looked at. */
struct ppi_view {
	const portprof_profile *profile;
	const struct ppi_symbols_name *names; /* of its locations */
	size_t event;
	const bool *is_left_out; /* by sample; NULL: all are in */
	const char *label; /* that PPI_BY_LABEL tells apart */
};

/* Strings belong to the symbols and the profile, labels to the rows; NULL, 0
 * where not folded by them. */
struct ppi_row {
	const char *function, *module, *path;
	const char *source_file; /* "" unknown */
	uint64_t line;
	uint64_t address;
	uint32_t pid, tid;
	const char *thread; /* its name; "" unknown */
	const char *label;  /* its value */
	bool is_named;
	uint64_t self_weight;  /* its own samples */
	uint64_t total_weight; /* and those of what it called; without chains
	                        * the same as self_weight */
	uint64_t samples;
};

/* Weight of a module that lacks names of functions, lines, or frame pointers. */
struct ppi_nameless {
	const char *module;
	uint64_t weight;
};

struct ppi_nameless_list {
	struct ppi_nameless *modules; /* largest weight first */
	size_t count;
};

/* The strings are the symbols' own. False when out of memory. */
bool ppi_nameless_add(struct ppi_nameless_list *list, const char *module,
                      uint64_t weight);
void ppi_nameless_sort(struct ppi_nameless_list *list);

struct ppi_rows {
	struct ppi_row *rows; /* largest self_weight first */
	size_t count;
	uint64_t weight, samples;           /* of all rows */
	uint64_t left_weight, left_samples; /* of what the view leaves out */
	bool has_chains;
	uint64_t skipping_weight; /* of edges that leave a function out: the
	                           * inner one keeps no frame pointer */
	struct ppi_nameless_list nameless, lineless;
	struct ppi_nameless_list made; /* code made while running, by advice */
	struct ppi_labels labels; /* texts of rows */
};

/* Put what has most itself first, or with all it called. */
void ppi_rows_by_self(struct ppi_rows *rows);
void ppi_rows_by_total(struct ppi_rows *rows);

#endif
