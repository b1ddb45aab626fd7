/* SPDX-License-Identifier: MIT */
/*
 * Folds a profile into rows (report_row.h): who had how much of an event, and who
 * called a function or was called by it. Also the names of rows and their keys.
 */
#ifndef PPI_REPORT_ROWS_H
#define PPI_REPORT_ROWS_H

#include <portprof.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/view/row.h"

/* Fold a view by `keys` (PPI_BY_ bits). False when out of memory. */
bool ppi_rows_fold(const struct ppi_view *view, unsigned keys,
                   struct ppi_rows *rows);

/* The same for all of one event. */
static inline bool ppi_rows_build(const portprof_profile *profile, size_t event,
                                  unsigned keys,
                                  const struct ppi_symbols_name *names,
                                  struct ppi_rows *rows)
{
	const struct ppi_view view = { .profile = profile, .names = names,
		                       .event = event };

	return ppi_rows_fold(&view, keys, rows);
}

/*
 * Who called the functions of that name, and what they called: the caller of
 * the outermost one in a chain, and what the innermost one called, so that
 * both make the functions' whole weight however they call themselves. It
 * stands in self_weight; "(nobody)" is the caller of what begins a chain,
 * "(unknown)" of what a chain broke off at, "(itself)" the code of the
 * function.
 */
enum ppi_edge { PPI_CALLERS, PPI_CALLEES };
bool ppi_rows_edges_by(const struct ppi_view *view, unsigned keys,
                       enum ppi_edge edge, const char *function,
                       struct ppi_rows *rows);

/* The same by function. */
static inline bool ppi_rows_edges(const struct ppi_view *view,
                                  enum ppi_edge edge, const char *function,
                                  struct ppi_rows *rows)
{
	return ppi_rows_edges_by(view, PPI_BY_FUNCTION | PPI_BY_MODULE, edge,
	                         function, rows);
}

/* Take out the rows of code that is none of what a list of patterns names, as
 * struct ppi_filter has them (NULL: all stay): callers of what was asked for.
 * False when out of memory. */
bool ppi_rows_keep_modules(struct ppi_rows *rows, const char *modules);

void ppi_rows_free(struct ppi_rows *rows);

/* Whether a name is meant: it itself, without its parameters, or a pattern
 * of sh(1). */
bool ppi_is_function(const char *wanted, const char *function);

/*
 * The names of every location of a profile, found once for all events and
 * orders. NULL when out of memory.
 */
struct ppi_symbols_name *ppi_name_locations(const portprof_profile *profile,
                                            struct ppi_symbols *symbols);

/* "function,module,..." to bits; 0 and the unknown word when it has one. *label is
 * behind "label:", up to a comma or the end. */
unsigned ppi_rows_keys(const char *text, const char **label,
                       const char **unknown);

#endif
