/* SPDX-License-Identifier: MIT */
/* One event of a profile, ready to be printed as text, CSV or JSON. */
#ifndef PPI_REPORT_H
#define PPI_REPORT_H

#include <portprof.h>

#include <stdio.h>

#include "tools/view/chains.h"
#include "tools/view/rows.h"
#include "tools/symbols/symbols.h"

/* Who called a function, or what it called. */
struct ppi_report_edges {
	const char *function; /* NULL: not asked for */
	struct ppi_rows rows;
};

/* Rows that were asked for besides those by function and by thread. */
struct ppi_report_more {
	const char *sort; /* the keys of `rows`, as they were given; NULL: no
	                   * rows were asked for */
	struct ppi_rows rows;
	struct ppi_report_edges callers, callees;
};

struct ppi_report {
	const char *path; /* where the profile was read */
	const portprof_profile *profile;
	struct ppi_symbols *symbols;
	const struct ppi_symbols_name *names;
	size_t event;     /* which one */
	unsigned keys;    /* PPI_BY_ bits of the text's rows */
	size_t row_limit; /* 0: all */
	const struct ppi_report_more *more; /* of JSON; NULL: nothing */

	/* Filled by ppi_report_sum: the event's own total, so that rows,
	 * outside and unattributed are all of it. */
	const portprof_profile_event *what;
	uint64_t total, outside, unattributed;
	uint64_t excess;   /* estimates stand for so much too much */
	uint64_t idle;     /* of CPUs, in ns; in no total */
	uint64_t left_out; /* by filters: neither in rows nor in those */
	struct ppi_chains chains;
};

/* Set `what` and the sums from the account, or, of a file without one, from
 * the weight of all rows, shown or left out. */
void ppi_report_sum(struct ppi_report *report, uint64_t rows_weight);

/* The account, then the rows; print_rows alone is the answer to -q. */
void ppi_report_print_header(const struct ppi_report *report, FILE *out);
void ppi_report_print_rows(const struct ppi_report *report,
                           const struct ppi_rows *rows, FILE *out);

/* Rows of ppi_rows_edges. */
void ppi_report_print_edges(const struct ppi_report *report, enum ppi_edge edge,
                            const struct ppi_report_edges *edges, FILE *out);

/*
 * A line of names, then one for each row, with the parts of the total that
 * are in no row behind. Weights are plain numbers in the event's unit; a field
 * with a separator or a quote in it stands in quotes (RFC 4180). edge: which
 * rows of ppi_rows_edges these are, in a column of its own; NULL others.
 */
void ppi_report_print_csv_names(const struct ppi_report *report,
                                const char *separator, bool has_edge,
                                FILE *out);
void ppi_report_print_csv_rows(const struct ppi_report *report,
                               const struct ppi_rows *rows,
                               const char *separator, const char *edge,
                               FILE *out);

/* All of one event as JSON. False when it cannot be written. */
bool ppi_report_print_json(const struct ppi_report *report,
                           const struct ppi_rows *functions,
                           const struct ppi_rows *threads, FILE *out);

#endif
