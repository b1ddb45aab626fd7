/* SPDX-License-Identifier: MIT */
/* One event of a profile, ready to be printed as text or JSON. */
#ifndef PPI_REPORT_H
#define PPI_REPORT_H

#include <portprof.h>

#include <stdio.h>

#include "tools/report_rows.h"
#include "tools/symbols.h"

struct ppi_report {
	const char *path;                 /* where the profile was read */
	const portprof_profile *profile;
	struct ppi_symbols *symbols;
	const struct ppi_symbols_name *names;
	size_t event;                     /* which one */
	unsigned keys;                    /* PPI_BY_ bits of the text's rows */
	size_t row_limit;                 /* 0: all */

	/* Filled by ppi_report_sum: the event's own total, so that rows,
	 * outside and unattributed are all of it. */
	const portprof_profile_event *what;
	uint64_t total, outside, unattributed;
};

/* Set `what` and the three sums from the account, or, of a file without
 * one, from the rows' weight. */
void ppi_report_sum(struct ppi_report *report, uint64_t rows_weight);

/* The account, then the rows; print_rows alone is the answer to -q. */
void ppi_report_print_header(const struct ppi_report *report, FILE *out);
void ppi_report_print_rows(const struct ppi_report *report,
                           const struct ppi_rows *rows, FILE *out);

/*
 * All of one event as JSON. False when it cannot be written: `why` is a
 * sentence then.
 */
bool ppi_report_print_json(const struct ppi_report *report,
                           const struct ppi_rows *functions,
                           const struct ppi_rows *threads, FILE *out,
                           const char **why);

#endif
