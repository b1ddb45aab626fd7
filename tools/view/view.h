/* SPDX-License-Identifier: MIT */
/* What of a profile is looked at, by which keys its samples are told apart,
 * and its numbers as people read them. */
#ifndef PPI_VIEW_H
#define PPI_VIEW_H

#include <portprof.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/symbols/symbols.h"

struct ppi_view {
	const portprof_profile *profile;
	const struct ppi_symbols_name *names; /* of its locations */
	size_t event;
	/* By sample, in place of the event's own: several events as one, or
	 * weights by another measure (wall.h); NULL. */
	const uint64_t *weights, *samples;
	const bool *is_left_out; /* by sample; NULL: all are in */
	const bool *is_idle;     /* likewise: idle waits, in no row */
	bool is_latency;         /* weights are; the event's own are CPU time */
	bool has_callees;        /* code.c: lines have what they called, too */
	const char *label; /* that PPI_BY_LABEL tells apart */
};

static inline uint64_t ppi_view_weight(const struct ppi_view *view, size_t i,
                                       const portprof_profile_sample *sample)
{
	return view->weights ? view->weights[i] : sample->weights[view->event];
}

static inline uint64_t ppi_view_samples(const struct ppi_view *view, size_t i,
                                        const portprof_profile_sample *sample)
{
	return view->samples ? view->samples[i] : sample->samples[view->event];
}

/* Whether a sample is in the view's rows. */
static inline bool ppi_view_has(const struct ppi_view *view, size_t i)
{
	return (!view->is_left_out || !view->is_left_out[i]) &&
	       (!view->is_idle || !view->is_idle[i]);
}

/* ---- keys ---- */

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
	/* What a thread did, and waited for (wall.h): by enum ppi_tag. */
	PPI_BY_STATE = 1u << 8,
	PPI_BY_WAIT = 1u << 9,
	PPI_BY_ON = 1u << 10,
	PPI_BY_HOLDER = 1u << 11,

	/* Sets of them. */
	PPI_BY_CODE =
		PPI_BY_FUNCTION | PPI_BY_MODULE | PPI_BY_ADDRESS | PPI_BY_LINE,
	PPI_BY_OWNER = PPI_BY_THREAD | PPI_BY_PROCESS | PPI_BY_COMM,
	PPI_BY_TAG = PPI_BY_STATE | PPI_BY_WAIT | PPI_BY_ON | PPI_BY_HOLDER,
	PPI_BY_SAMPLE = PPI_BY_OWNER | PPI_BY_LABEL | PPI_BY_TAG
};

/* The i-th word that is one; none that has a bit of `without`. NULL behind the last. */
const char *ppi_rows_word(size_t i, unsigned without);

/* "function,module,..." to bits; 0 and the unknown word when it has one. *label
 * is behind "label:", up to a comma or the end. */
unsigned ppi_rows_keys(const char *text, const char **label,
                       const char **unknown);

/* Whether a name is meant: it itself, without its parameters, or a pattern
 * of sh(1). */
bool ppi_is_function(const char *wanted, const char *function);

/* ---- weight that lacks something ---- */

/* Weight of a module that lacks names of functions, lines, or frame
 * pointers. */
struct ppi_nameless {
	const char *module;
	uint64_t weight;
};

struct ppi_nameless_list {
	struct ppi_nameless *modules; /* largest weight first */
	size_t count, room;
};

/* The strings are the symbols' own. False when out of memory. */
bool ppi_nameless_add(struct ppi_nameless_list *list, const char *module,
                      uint64_t weight);
void ppi_nameless_sort(struct ppi_nameless_list *list);

/* ---- weights and shares as people read them ---- */

/* How weights of one report are written: all in the same unit. */
struct ppi_scale {
	double divisor;
	int digits;
	const char *unit;
};

struct ppi_scale ppi_scale_of(portprof_unit unit, uint64_t largest);

/* Returns `out`. */
const char *ppi_say_weight(struct ppi_scale scale, uint64_t weight, char *out,
                           size_t bytes);

/* "-" before a number in words that is below 0, but for one that is rounded to
 * 0. */
const char *ppi_minus(const char *number);

/* 0 of nothing. */
double ppi_percent(uint64_t part, uint64_t whole);

/* ---- how far chance alone moves them, from run to run ---- */

/*
 * Samples fall on a function as if by chance, so that a weight w that samples
 * of weight q make up has a standard error of sqrt(w q). The error of a
 * change; of what neither profile has it is that of one sample.
 */
double ppi_noise_error(double before, double before_sample, double after,
                       double after_sample);

/*
 * Where a share lies that was seen in so many samples, with a probability of
 * 95 % (Wilson's interval, which holds for few samples, too). With fewer than
 * PPI_FEW_SAMPLES that is worth a word.
 */
enum { PPI_FEW_SAMPLES = 200 };
void ppi_share_range(double share, uint64_t samples, double *low, double *high);

/*
 * How many standard errors a change must exceed: where nothing changed, none
 * of `functions` functions does with a probability of 95 % (Bonferroni).
 */
double ppi_noise_limit(size_t functions);

/*
 * The same for an error that was estimated from runs that were equal but for
 * chance, with so many degrees of freedom (Student's t).
 */
double ppi_noise_limit_of_runs(size_t functions, size_t freedom);

#endif
