/* SPDX-License-Identifier: MIT */
/* One event of a profile with its sums, and its account as people read it:
 * how it was measured, and how reliable it is. */
#ifndef PPI_ACCOUNT_H
#define PPI_ACCOUNT_H

#include <portprof.h>

#include <stdbool.h>
#include <stdio.h>

#include "tools/view/chains.h"
#include "tools/view/life.h"
#include "tools/view/rows.h"
#include "tools/view/wall.h"

struct ppi_report {
	const char *path; /* where the profile was read */
	const portprof_profile *profile;
	struct ppi_symbols *symbols;
	const struct ppi_symbols_name *names;
	size_t event;     /* which one */
	const struct ppi_subject *subject; /* what of it; NULL: the event */
	unsigned keys;    /* PPI_BY_ bits of the text's rows */
	size_t row_limit; /* 0: all */
	/* of JSON; NULL: nothing (tools/report/report.h) */
	const struct ppi_report_more *more;

	/* Filled by ppi_report_sum: the event's own total, so that rows,
	 * outside and unattributed are all of it. */
	const portprof_profile_event *what;
	uint64_t total, outside, unattributed;
	uint64_t excess;   /* estimates stand for so much too much */
	uint64_t idle;     /* of CPUs, in ns; in no total */
	uint64_t left_out; /* by filters: neither in rows nor in those */
	uint64_t idle_waits; /* not shown, and in no total */
	uint64_t unknown;    /* of all states: time of which none is known */
	/* What shares are of: all of the total, or of what filters leave. */
	uint64_t shown;
	bool is_filtered;
	bool is_short; /* the header, for who did not ask for all of it */
	struct ppi_chains chains;
	struct ppi_life life;
};

/* Set `what` and the sums from the account, or, of a file without one, from
 * the weight of all rows, shown or left out. `idle_waits` is known before. */
void ppi_report_sum(struct ppi_report *report, uint64_t rows_weight);

/* Then, where filters leave something out: what they keep, and what not. */
void ppi_report_filter(struct ppi_report *report, uint64_t shown,
                       uint64_t left_out);

/* Whether what is unattributed, or too much, is no more than chance makes of
 * estimates: then it is none. */
bool ppi_report_noise(const struct ppi_report *report);
/* The same of a gap between a total and its samples, either way. */
bool ppi_gap_is_noise(const portprof_stats *stats, uint64_t gap);

/* The account, which stands above a report's rows. */
void ppi_report_print_header(const struct ppi_report *report, FILE *out);

#endif
