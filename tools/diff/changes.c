/* SPDX-License-Identifier: MIT */
/* Compares two profiles: the weight of each function before and after. */
#include "config.h"

#include "tools/diff/diff.h"
#include "tools/view/short_names.h"
#include "tools/view/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_text(const char *left, const char *right)
{
	return strcmp(left ? left : "", right ? right : "");
}

/* A function is the same whatever folder its module lies in. */
static int compare_names(const struct ppi_row *a, const struct ppi_row *b)
{
	int order = compare_text(a->function, b->function);

	if (order == 0)
		order = compare_text(a->module, b->module);
	if (order == 0)
		order = compare_text(a->source_file, b->source_file);
	if (order == 0 && a->line != b->line)
		order = a->line < b->line ? -1 : 1;
	if (order == 0)
		order = compare_text(a->label, b->label);
	if (order == 0)
		order = compare_text(a->thread, b->thread);
	for (size_t i = 0; order == 0 && i < PPI_TAGS; i++)
		order = compare_text(a->tags[i], b->tags[i]);
	return order;
}

static int compare_by_name(const void *left, const void *right)
{
	const struct ppi_change *a = left, *b = right;

	return compare_names(a->row, b->row);
}

static int compare_by_change(const void *left, const void *right)
{
	const struct ppi_change *a = left, *b = right;
	double one = fabs(a->after - a->before);
	double other = fabs(b->after - b->before);

	if (a->is_noise != b->is_noise)
		return a->is_noise ? 1 : -1;
	if (one < other || one > other)
		return one > other ? -1 : 1;
	return compare_names(a->row, b->row);
}

static uint64_t *weights_of(const struct ppi_changes_side *side, size_t from,
                            size_t to)
{
	return ppi_runs_weights(side->runs, from, to,
	                        side->series->report.subject);
}

/* ---- chance ---- */

/* What one sample stands for on the average, heavy ones counting for more: of the
 * mean of several runs a part of that. 0 when out of memory. */
static double sample_weight(const struct ppi_changes_side *side)
{
	const struct ppi_view *view = &side->series->view;
	size_t runs = side->runs->count;
	struct ppi_view sum = *view;
	uint64_t *weights = runs > 1 ? weights_of(side, 0, runs) : NULL;
	const portprof_profile_sample *sample;
	double all = 0, squares = 0;

	if (runs > 1)
		sum.weights = weights;
	for (size_t i = 0;
	     (sample = portprof_profile_sample_get(view->profile, i)) != NULL;
	     i++) {
		double weight = (double)ppi_view_weight(&sum, i, sample);
		uint64_t samples = ppi_view_samples(&sum, i, sample);

		if (!ppi_view_has(view, i))
			continue;
		all += weight;
		squares += weight * weight / (samples ? (double)samples : 1);
	}
	free(weights);
	return all > 0 ? squares / all / (double)runs : 0;
}

static double mean_of(const double *values, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += values[i];
	return sum / (double)count;
}

/* Of the squares of what runs differ by from the mean of their side. */
static double squares_of(const double *values, size_t count, double mean)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += (values[i] - mean) * (values[i] - mean);
	return sum;
}

/* The square of the error that runs of one side show, and what of it sampling
 * explains. */
struct spread {
	double between, sampling;
};

static struct spread spread_of(const struct ppi_changes *changes,
                               const struct ppi_change *one)
{
	const size_t *runs = changes->runs;
	size_t freedom = runs[0] + runs[1] - 2;
	double variance = 0;
	struct spread spread;

	if (freedom)
		variance = (squares_of(one->values, runs[0], one->before) +
		            squares_of(one->values + runs[0], runs[1],
		                       one->after)) /
		           (double)freedom;
	spread.between = variance * (1 / (double)runs[0] + 1 / (double)runs[1]);
	spread.sampling = ppi_noise_error(one->before, changes->samples[0],
	                                  one->after, changes->samples[1]);
	spread.sampling *= spread.sampling;
	return spread;
}

static double squares_by_runs(const struct ppi_changes *changes,
                              const struct ppi_change *one)
{
	return one->before * one->before / (double)changes->runs[0] +
	       one->after * one->after / (double)changes->runs[1];
}

/*
 * Two independent errors: of sampling, which is known, and of what else differs
 * from run to run, which few runs show badly. The limit is the root of the sum of
 * squares of both limits, by Banerjee's inequality (Biometrika 48, 1961) at least
 * as wide as it must be. What differs is what this row shows beyond sampling, or,
 * where that is more, the share of a weight that most rows show.
 */
static void judge_one(const struct ppi_changes *changes, double limit,
                      double limit_of_runs, struct ppi_change *one)
{
	struct spread spread = spread_of(changes, one);
	double size = one->after - one->before;
	double common = changes->spread * squares_by_runs(changes, one);
	double own = spread.between - spread.sampling;
	double more = own > common ? own : common;

	one->error = sqrt(spread.sampling + more);
	one->is_noise = size * size <=
	                limit * limit * spread.sampling +
	                        limit_of_runs * limit_of_runs * more;
}

/* What the spread of runs is of a weight, in squares. */
struct share {
	double share, weight;
};

static int compare_shares(const void *left, const void *right)
{
	const struct share *a = left, *b = right;

	return a->share < b->share ? -1 : a->share > b->share;
}

/*
 * The square of the share of a weight by which equal runs differ, beyond sampling:
 * the machine was busier, or faster. Half of the weight has less: one function
 * that differs from run to run widens its own limit alone. False when out of
 * memory.
 */
static bool find_common_spread(struct ppi_changes *changes)
{
	struct share *shares = calloc(changes->count + 1, sizeof(*shares));
	double all = 0, below = 0;
	size_t i;

	if (!shares)
		return false;
	for (i = 0; i < changes->count; i++) {
		const struct ppi_change *one = &changes->changes[i];
		struct spread spread = spread_of(changes, one);

		shares[i].weight = one->before + one->after;
		shares[i].share = (spread.between - spread.sampling) /
		                  squares_by_runs(changes, one);
		all += shares[i].weight;
	}
	if (changes->count)
		qsort(shares, changes->count, sizeof(*shares), compare_shares);
	for (i = 0; i < changes->count; i++) {
		below += shares[i].weight;
		if (below >= all / 2)
			break;
	}
	if (i < changes->count && shares[i].share > 0)
		changes->spread = shares[i].share;
	free(shares);
	return true;
}

/* 0 of single runs, which show nothing of what differs between runs. */
static double runs_limit(const struct ppi_changes *changes, size_t count)
{
	size_t freedom = changes->runs[0] + changes->runs[1] - 2;

	return freedom ? ppi_noise_limit_of_runs(count, freedom) : 0;
}

static void judge(struct ppi_changes *changes)
{
	double limit = ppi_noise_limit(changes->count);
	double limit_of_runs = runs_limit(changes, changes->count);

	for (size_t i = 0; i < changes->count; i++) {
		judge_one(changes, limit, limit_of_runs, &changes->changes[i]);
		changes->beyond += !changes->changes[i].is_noise;
	}
}

static bool is_counted(const struct ppi_changes_side *side)
{
	return !side->series->view.is_left_out &&
	       ppi_runs_are_counted(side->runs, side->series->report.subject);
}

/* Where each run's total was counted, what runs of one side differ by is all of its
 * error: no sampling is added, nor what rows of few samples seem to differ by. That
 * is Student's t. */
static void judge_total(const struct ppi_changes_side sides[2],
                        struct ppi_changes *changes)
{
	double limit = runs_limit(changes, 1);
	struct ppi_change *total = &changes->total;
	double size = total->after - total->before;

	if (limit > 0 && is_counted(&sides[0]) && is_counted(&sides[1])) {
		total->error = sqrt(spread_of(changes, total).between);
		total->is_noise = fabs(size) <= limit * total->error;
	} else {
		judge_one(changes, ppi_noise_limit(1), limit, total);
	}
}

/* ---- rows ---- */

static void take_means(const struct ppi_changes *changes,
                       struct ppi_change *one)
{
	one->before = mean_of(one->values, changes->runs[0]);
	one->after = mean_of(one->values + changes->runs[0], changes->runs[1]);
}

/* Rows of one name become one. */
static void put_together(struct ppi_changes *changes)
{
	size_t count = 0, runs = changes->runs[0] + changes->runs[1];

	qsort(changes->changes, changes->count, sizeof(*changes->changes),
	      compare_by_name);
	for (size_t i = 0; i < changes->count; i++) {
		struct ppi_change *one = &changes->changes[i];
		struct ppi_change *last = &changes->changes[count ? count - 1 : 0];

		if (count && compare_names(one->row, last->row) == 0)
			for (size_t k = 0; k < runs; k++)
				last->values[k] += one->values[k];
		else
			changes->changes[count++] = *one;
	}
	changes->count = count;
	for (size_t i = 0; i < count; i++)
		take_means(changes, &changes->changes[i]);
}

static const char *function_of(const void *changes, size_t i)
{
	return ((const struct ppi_changes *)changes)->changes[i].row->function;
}

/* All rows are judged, as chance may move any; then some are left out. */
static bool leave_out(struct ppi_changes *changes,
                      const struct ppi_changes_asked *asked)
{
	bool *is_meant = calloc(changes->count + 1, sizeof(*is_meant));
	size_t count = 0;

	if (!is_meant)
		return false;
	if (asked->function)
		ppi_functions_meant(asked->function, changes->count,
		                    function_of, changes, is_meant);
	changes->left_out = changes->beyond;
	changes->beyond = 0;
	changes->lacks_function = asked->function != NULL;
	for (size_t i = 0; i < changes->count; i++) {
		const struct ppi_change *one = &changes->changes[i];

		if (asked->function && !is_meant[i])
			continue;
		changes->lacks_function = false;
		if (100 * fabs(one->after - one->before) <
		    asked->percent_least * one->before)
			continue;
		changes->beyond += !one->is_noise;
		changes->changes[count++] = *one;
	}
	changes->left_out -= changes->beyond;
	changes->count = count;
	free(is_meant);
	return true;
}

/* Of a part of the samples nobody knows what else belongs to it. */
static double total_of(const struct ppi_changes_side *side, size_t run,
                       const struct ppi_rows *rows)
{
	const struct ppi_report *report = &side->series->report;

	if (side->series->view.is_left_out)
		return (double)rows->weight;
	return side->runs->count > 1
	               ? ppi_runs_total(side->runs, run, report->subject)
	               : (double)report->total;
}

/* A run's rows. */
static bool fold_run(const struct ppi_changes_side *side, size_t run,
                     unsigned keys, struct ppi_rows *rows)
{
	struct ppi_view view = side->series->view;
	uint64_t *weights = NULL;
	bool is_good;

	if (side->runs->count > 1) {
		weights = weights_of(side, run, run + 1);
		if (!weights)
			return false;
		view.weights = weights;
		/* so that samples of other runs are passed over: nobody asks
		 * how many a row has */
		view.samples = weights;
	}
	is_good = ppi_rows_fold(&view, keys, rows);
	free(weights);
	return is_good;
}

static bool fold_all(const struct ppi_changes_side sides[2], unsigned keys,
                     struct ppi_changes *changes)
{
	size_t number = 0;

	changes->rows = calloc(changes->runs[0] + changes->runs[1],
	                       sizeof(*changes->rows));
	changes->totals = calloc(changes->runs[0] + changes->runs[1],
	                         sizeof(*changes->totals));
	if (!changes->rows || !changes->totals)
		return false;
	for (int side = 0; side < 2; side++)
		for (size_t run = 0; run < changes->runs[side]; run++) {
			struct ppi_rows *rows = &changes->rows[number];

			if (!fold_run(&sides[side], run, keys, rows))
				return false;
			changes->totals[number++] =
				total_of(&sides[side], run, rows);
		}
	return true;
}

/* Each run as if its total were the mean of those of after. */
static void normalize(struct ppi_changes *changes, double *scales)
{
	size_t count = changes->runs[0] + changes->runs[1];
	double before = mean_of(changes->totals, changes->runs[0]);
	double after = mean_of(changes->totals + changes->runs[0],
	                       changes->runs[1]);

	changes->scale = before > 0 && after > 0 ? after / before : 1;
	for (size_t i = 0; i < count; i++)
		if (before > 0 && after > 0 && changes->totals[i] > 0)
			scales[i] = after / changes->totals[i];
}

static void add_rows(struct ppi_changes *changes, size_t run, double scale,
                     bool is_inclusive)
{
	size_t runs = changes->runs[0] + changes->runs[1];

	for (size_t i = 0; i < changes->rows[run].count; i++) {
		const struct ppi_row *row = &changes->rows[run].rows[i];
		double weight = (double)(is_inclusive ? row->total_weight
		                                      : row->self_weight);
		struct ppi_change *one = &changes->changes[changes->count];

		/* what only calls has nothing to compare */
		if (weight <= 0)
			continue;
		one->row = row;
		one->values = &changes->values[changes->count++ * runs];
		one->values[run] = weight * scale;
	}
}

static bool add_all(struct ppi_changes *changes,
                    const struct ppi_changes_asked *asked)
{
	size_t runs = changes->runs[0] + changes->runs[1], rows = 1;
	double *scales = calloc(runs, sizeof(*scales));

	for (size_t i = 0; i < runs; i++)
		rows += changes->rows[i].count;
	changes->changes = calloc(rows, sizeof(*changes->changes));
	changes->values = calloc(rows * runs, sizeof(*changes->values));
	if (!scales || !changes->changes || !changes->values) {
		free(scales);
		return false;
	}
	for (size_t i = 0; i < runs; i++)
		scales[i] = 1;
	if (asked->is_normalized)
		normalize(changes, scales);
	for (size_t i = 0; i < runs; i++) {
		add_rows(changes, i, scales[i], asked->is_inclusive);
		changes->totals[i] *= scales[i];
	}
	free(scales);
	changes->total.values = changes->totals;
	take_means(changes, &changes->total);
	return true;
}

bool ppi_changes_find(const struct ppi_changes_side sides[2],
                      const struct ppi_changes_asked *asked,
                      struct ppi_changes *changes)
{
	*changes = (struct ppi_changes){ .scale = 1 };
	for (int i = 0; i < 2; i++)
		changes->runs[i] = sides[i].runs->count;
	if (!fold_all(sides, asked->keys, changes) || !add_all(changes, asked))
		return false;
	for (int i = 0; i < 2; i++)
		changes->samples[i] = sample_weight(&sides[i]) *
		                      (i ? 1 : changes->scale);
	put_together(changes);
	if (changes->runs[0] + changes->runs[1] > 2 &&
	    !find_common_spread(changes))
		return false;
	judge(changes);
	judge_total(sides, changes);
	changes->tested = changes->count;
	if (!leave_out(changes, asked))
		return false;
	if (changes->count)
		qsort(changes->changes, changes->count,
		      sizeof(*changes->changes), compare_by_change);
	return true;
}

const char *ppi_change_verdict(const struct ppi_change *change)
{
	if (change->is_noise)
		return "noise";
	if (change->before <= 0)
		return "new";
	if (change->after <= 0)
		return "gone";
	return change->after > change->before ? "grown" : "shrunk";
}

void ppi_changes_free(struct ppi_changes *changes)
{
	free(changes->changes);
	free(changes->values);
	free(changes->totals);
	for (size_t i = 0; changes->rows && i < changes->runs[0] + changes->runs[1];
	     i++)
		ppi_rows_free(&changes->rows[i]);
	free(changes->rows);
}

/* ---- what grew by more than is allowed: --fail-above ---- */

double ppi_change_percent(const struct ppi_change *change)
{
	double size = change->after - change->before;

	if (change->before > 0)
		return 100 * size / change->before;
	return change->after > 0 ? (double)INFINITY : 0;
}

void ppi_gate_judge(struct ppi_gate *gate, const struct ppi_changes *changes,
                    bool has_pattern)
{
	if (gate->percent < 0)
		return;
	if (!has_pattern) {
		gate->is_failed = !changes->total.is_noise &&
		                  ppi_change_percent(&changes->total) >
					  gate->percent;
		return;
	}
	for (size_t i = 0; i < changes->count; i++) {
		const struct ppi_change *one = &changes->changes[i];
		double percent = ppi_change_percent(one);

		if (one->is_noise || percent <= gate->percent)
			continue;
		gate->is_failed = true;
		if (!gate->worst || percent > ppi_change_percent(gate->worst))
			gate->worst = one;
	}
}
