/* SPDX-License-Identifier: MIT */
/* What the command line asks of a profile, and one event of it printed as text, tree,
 * CSV or JSON. */
#ifndef PPI_REPORT_H
#define PPI_REPORT_H

#include <portprof.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/vector.h"
#include "tools/page/page.h"
#include "tools/view/account.h"
#include "tools/view/filter.h"
#include "tools/view/holders.h"
#include "tools/view/names.h"
#include "tools/view/rows.h"

/* ---- what is asked for ---- */

enum ppi_report_form {
	PPI_REPORT_TEXT,
	PPI_REPORT_CSV,
	PPI_REPORT_JSON,
	PPI_REPORT_HTML
};

/* Its members are the options of the command line. */
struct ppi_report_options {
	const char **inputs; /* at least one */
	size_t input_count;
	const char *program; /* that wrote a gmon.out; NULL: a.out */
	uint64_t memory_max; /* 0: the usual */
	const char *event; /* NULL: all */
	const char *sort;  /* as it was given; NULL: by function */
	unsigned keys;     /* PPI_BY_ bits */
	const char *label; /* up to a comma: of PPI_BY_LABEL */
	uint64_t rows;     /* 0: all */
	bool is_by_total, is_quiet, has_inlines, is_json;
	bool is_tree, has_full_names, wants_holders, wants_wakers;
	struct ppi_filter filter;
	struct ppi_wall_wish wish;
	const char *callers, *callees; /* functions; NULL */
	struct ppi_named_sources sources; /* from the root; NULL */
	enum ppi_report_form form;
	const char *separator; /* of CSV */
	const char *page;      /* file of HTML */
	struct ppi_hidden hidden; /* in it */
	bool is_verbose;
};

/* Print all of that. False, after words, when it cannot be. */
bool ppi_report_print(const portprof_profile *profile,
                      const struct ppi_report_options *options);

/* ---- one event ---- */

/* Who called a function, or what it called. */
struct ppi_report_edges {
	const char *function; /* NULL: not asked for */
	struct ppi_rows rows;
};

/* Who waited for what somebody held; strings belong to profile and symbols. */
struct ppi_report_waiter {
	const char *holder; /* or waker: "FUNCTION in thread NAME"; "" unknown */
	const char *function, *thread, *on;
	const portprof_profile_sample *held_at; /* where that thread was; NULL */
	uint64_t ns, waits;
};

/* By holder, the one that was waited for longest first. */
struct ppi_report_holders {
	struct ppi_holders where;
	struct ppi_report_waiter *waiters;
	size_t count;
};

enum ppi_who
ppi_report_who_of(const struct ppi_report_options *options);
/* False when out of memory; ppi_report_free_holders is due all the same. */
bool ppi_report_find_holders(const struct ppi_view *view,
                             enum ppi_who who,
                             struct ppi_report_holders *holders);
void ppi_report_free_holders(struct ppi_report_holders *holders);

/* The waiters from `first` on that have the same holder: their sums, and the
 * one behind them. */
size_t ppi_report_holder_end(const struct ppi_report_holders *holders,
                             size_t first, uint64_t *ns, uint64_t *waits);

void ppi_report_print_holders(const struct ppi_report *report,
                              const struct ppi_report_holders *holders,
                              FILE *out);

/* Rows that were asked for beside those by function and by thread. */
struct ppi_report_more {
	const char *sort; /* the keys of `rows`, as they were given; NULL: no
	                   * rows were asked for */
	struct ppi_rows rows;
	struct ppi_report_edges callers, callees;
	const struct ppi_report_holders *holders; /* NULL: not asked for */
};

/* The rows, behind ppi_report_print_header or alone. */
void ppi_report_print_rows(const struct ppi_report *report,
                           const struct ppi_rows *rows, FILE *out);

/* What shares are of, in words. */
const char *ppi_report_of_what(const struct ppi_report *report);

/* Below them: what would name code that has no name or line, and where a clock's
 * samples waited. */
void ppi_report_print_hints(const struct ppi_report *report,
                            const struct ppi_rows *rows, FILE *out);

/* Below that: how to see the rest of a program that mostly waited. */
void ppi_report_print_rest(const struct ppi_report *report, FILE *out);

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

/* What a tree of calls is of. */
struct ppi_tree_wish {
	enum ppi_edge edge;   /* callees: downwards, callers: upwards */
	const char *function; /* from it on; NULL: downwards from where each
	                       * thread begins */
	bool has_full_names;  /* else what C++ and Rust put into names of types
	                       * and arguments is left out */
	unsigned each;        /* a tree for each thread, process or value of a
	                       * label: PPI_BY_ bits; 0: one for all */
	bool is_whole;        /* else branches of less than one percent of
	                       * the total are summed up */
};

/* False when out of memory. *weight: of what is in the tree; 0: the function
 * is in no sample. */
bool ppi_report_print_tree(const struct ppi_report *report,
                           const struct ppi_view *view,
                           const struct ppi_tree_wish *wish, FILE *out,
                           uint64_t *weight);

#endif
