/* SPDX-License-Identifier: MIT */
/* What changed between two profiles: the weight of each function before and
 * after, and whether something grew by more than is allowed. */
#ifndef PPI_DIFF_H
#define PPI_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tools/diff/runs.h"
#include "tools/page/page.h"
#include "tools/view/rows.h"

struct ppi_change {
	const struct ppi_row *row; /* of either profile: its names */
	double *values;            /* of each run, those of before first */
	double before, after;      /* their means */
	double error;              /* standard error of after - before */
	bool is_noise;
};

struct ppi_changes {
	struct ppi_change *changes; /* beyond noise first, largest first */
	size_t count, beyond;
	size_t tested;   /* before some were left out */
	size_t left_out; /* of those, beyond noise */
	bool lacks_function; /* none is what the wish names */
	struct ppi_change total; /* of both profiles; no row */
	double scale; /* what `before` was multiplied by: 1 but normalized */
	size_t runs[2];
	double samples[2]; /* what one sample stands for, before and after */
	double spread;     /* of runs, as a square of shares of a weight */
	struct ppi_rows *rows; /* of each run, as `values` */
	double *values, *totals;
};

struct ppi_changes_side {
	const struct ppi_page_series *series; /* of all runs, as their mean */
	const struct ppi_runs *runs;
};

/* Which rows, and which weights of them. */
struct ppi_changes_asked {
	unsigned keys;        /* PPI_BY_ bits */
	const char *label;    /* that PPI_BY_LABEL tells apart */
	bool is_normalized;
	bool is_inclusive;    /* with all that a function called */
	const char *function; /* as ppi_is_function has it; NULL: all */
	double percent_least; /* of what was before */
};

/* The rows of before and after. False when out of memory; ppi_changes_free is due
 * all the same. */
bool ppi_changes_find(const struct ppi_changes_side sides[2],
                      const struct ppi_changes_asked *asked,
                      struct ppi_changes *changes);
void ppi_changes_free(struct ppi_changes *changes);

/* "grown", "shrunk", "new", "gone" or "noise". */
const char *ppi_change_verdict(const struct ppi_change *change);

/* ---- what grew by more than is allowed: --fail-above ---- */

struct ppi_gate {
	double percent; /* below 0: nothing is refused */
	/* What grew most among what may not, or NULL: then the total. */
	const struct ppi_change *worst;
	bool is_failed;
};

/* Look at the functions that `changes` has, of which a pattern chose some, or,
 * without one, at the total alone. */
void ppi_gate_judge(struct ppi_gate *gate, const struct ppi_changes *changes,
                    bool has_pattern);

/* The change in percent of what was before; infinite of what is new. */
double ppi_change_percent(const struct ppi_change *change);

/* ---- how it is printed ---- */

struct ppi_match;

struct ppi_diff_form {
	struct ppi_changes_asked asked;
	uint64_t row_limit; /* 0: all */
	bool shows_all;   /* what is within noise too */
	bool is_quiet;    /* rows alone */
	const struct ppi_match *match;
	const struct ppi_gate *gate;
};

void ppi_diff_print(const struct ppi_changes_side sides[2],
                    const struct ppi_changes *changes,
                    const struct ppi_diff_form *form, FILE *out);
bool ppi_diff_print_json(const struct ppi_changes_side sides[2],
                         const struct ppi_changes *changes,
                         const struct ppi_diff_form *form, FILE *out);
void ppi_diff_print_csv(const struct ppi_changes *changes, unsigned keys,
                        const char *separator, FILE *out);

#endif
