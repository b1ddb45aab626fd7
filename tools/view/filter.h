/* SPDX-License-Identifier: MIT */
/* Which samples a report is about. */
#ifndef PPI_FILTER_H
#define PPI_FILTER_H

#include "tools/options.h"
#include "tools/view/rows.h"

/* Lists are words with commas between, each a pattern of sh(1) or, of
 * threads, a number; NULL where anything will do. */
struct ppi_filter {
	const char *threads;   /* names, or numbers of threads or processes */
	const char *modules;   /* of the sampled code: names or paths */
	const char *functions; /* anywhere in the chain */
	const char *label;     /* "NAME=LIST": values of a label; or one regular
	                        * expression of regex(7), "NAME=~EXPRESSION" */
	const char *waits;     /* what blocked threads waited for */
	bool has_times;        /* only from `from` on, and before `to`, */
	struct ppi_filter_time {
		bool is_part;  /* of the time measured, else nanoseconds */
		double amount; /* counted from when measuring began */
	} from, to;
};

/* "FROM,TO" in seconds, as "1,2.5", "1s,500ms" or "10%,20%"; either may be
 * missing. False when it is not that. */
bool ppi_filter_read_times(const char *text, struct ppi_filter *filter);

/* The row of --label in a verb's table; its value is the filter's `label`. */
#define PPI_LABEL_OPTION(at) \
	{ .name = "label", .value = "NAME=LIST", \
	  .help = "keep samples with these values of a label", \
	  .take = ppi_take_label, .place = (at) }
int ppi_take_label(const struct ppi_given *given, void *label);

/* Mark what such a "NAME=LIST" alone does not keep, without words; a profile that
 * has none of it may get some later. False: out of memory. */
bool ppi_filter_label(const char *label, const portprof_profile *profile,
                      bool *is_left_out);

/* Whether its expression is one; false with words. */
bool ppi_filter_label_check(const char *label);

/* The "NAME=LIST" of this one value; to be freed. NULL when out of memory. */
char *ppi_filter_label_of(const char *name, const char *value);

/* What the words of a list must fit; a sentence for each wrong one is said
 * on stderr. */
enum ppi_filter_result {
	PPI_FILTER_OK,
	PPI_FILTER_NOTHING, /* a word that nothing fits, or no times */
	PPI_FILTER_MEMORY
};

/*
 * Mark what is left out, in an array by sample that the caller frees; NULL
 * when the filter asks for nothing.
 */
enum ppi_filter_result ppi_filter_apply(const struct ppi_filter *filter,
                                        const portprof_profile *profile,
                                        const struct ppi_symbols_name *names,
                                        bool **is_left_out);

/* Mark what is outside the filter's times alone; false: that is all. */
bool ppi_filter_times(const struct ppi_filter *filter,
                      const portprof_profile *profile, bool *is_left_out);

/* Take out the rows of code that is none of what a list of patterns names, as
 * struct ppi_filter has them (NULL: all stay): callers of what was asked for.
 * False when out of memory. */
bool ppi_rows_keep_modules(struct ppi_rows *rows, const char *modules);

#endif
