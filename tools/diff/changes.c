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

/* What one sample stands for on the average, heavy ones counting for more. */
static double sample_weight(const struct ppi_view *view)
{
	const portprof_profile_sample *sample;
	double all = 0, squares = 0;

	for (size_t i = 0;
	     (sample = portprof_profile_sample_get(view->profile, i)) != NULL;
	     i++) {
		double weight = (double)ppi_view_weight(view, i, sample);
		uint64_t samples = ppi_view_samples(view, i, sample);

		if (!ppi_view_has(view, i))
			continue;
		all += weight;
		squares += weight * weight / (samples ? (double)samples : 1);
	}
	return all > 0 ? squares / all : 0;
}

/* Rows of one name become one. */
static void put_together(struct ppi_changes *changes)
{
	size_t count = 0;

	qsort(changes->changes, changes->count, sizeof(*changes->changes),
	      compare_by_name);
	for (size_t i = 0; i < changes->count; i++) {
		struct ppi_change *one = &changes->changes[i];
		struct ppi_change *last = &changes->changes[count ? count - 1 : 0];

		if (count && compare_names(one->row, last->row) == 0) {
			last->before += one->before;
			last->after += one->after;
		} else {
			changes->changes[count++] = *one;
		}
	}
	changes->count = count;
}

static void judge(struct ppi_changes *changes, double before_sample,
                  double after_sample)
{
	double limit = ppi_noise_limit(changes->count);

	for (size_t i = 0; i < changes->count; i++) {
		struct ppi_change *one = &changes->changes[i];

		one->error = ppi_noise_error(one->before, before_sample,
		                             one->after, after_sample);
		one->is_noise = fabs(one->after - one->before) <=
		                limit * one->error;
		changes->beyond += !one->is_noise;
	}
}

/* Of a part of the samples nobody knows what else belongs to it. */
static double total_of(const struct ppi_page_series *series,
                       const struct ppi_rows *rows)
{
	return (double)(series->view.is_left_out ? rows->weight
	                                         : series->report.total);
}

static void judge_total(const struct ppi_page_series *before,
                        const struct ppi_page_series *after,
                        struct ppi_changes *changes)
{
	struct ppi_change *total = &changes->total;

	total->before = total_of(before, &changes->rows[0]) * changes->scale;
	total->after = total_of(after, &changes->rows[1]);
	total->error = ppi_noise_error(
		total->before, sample_weight(&before->view) * changes->scale,
		total->after, sample_weight(&after->view));
	total->is_noise = fabs(total->after - total->before) <=
	                  ppi_noise_limit(1) * total->error;
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
	changes->beyond = 0;
	for (size_t i = 0; i < changes->count; i++) {
		const struct ppi_change *one = &changes->changes[i];

		if (asked->function && !is_meant[i])
			continue;
		if (100 * fabs(one->after - one->before) <
		    asked->percent_least * one->before)
			continue;
		changes->beyond += !one->is_noise;
		changes->changes[count++] = *one;
	}
	changes->count = count;
	free(is_meant);
	return true;
}

static void add_rows(struct ppi_changes *changes, int side, bool is_inclusive)
{
	for (size_t i = 0; i < changes->rows[side].count; i++) {
		const struct ppi_row *row = &changes->rows[side].rows[i];
		double weight = (double)(is_inclusive ? row->total_weight
		                                      : row->self_weight);

		/* what only calls has nothing to compare */
		if (weight > 0)
			changes->changes[changes->count++] =
				(struct ppi_change){
					row,
					side ? 0 : weight * changes->scale,
					side ? weight : 0, 0, false
				};
	}
}

bool ppi_changes_find(const struct ppi_page_series *before,
                      const struct ppi_page_series *after,
                      const struct ppi_changes_asked *asked,
                      struct ppi_changes *changes)
{
	*changes = (struct ppi_changes){ .scale = 1 };
	if (asked->is_normalized && before->report.total)
		changes->scale = (double)after->report.total /
		                 (double)before->report.total;
	if (!ppi_rows_fold(&before->view, asked->keys, &changes->rows[0]) ||
	    !ppi_rows_fold(&after->view, asked->keys, &changes->rows[1]))
		return false;
	changes->changes =
		calloc(changes->rows[0].count + changes->rows[1].count + 1,
	               sizeof(*changes->changes));
	if (!changes->changes)
		return false;
	add_rows(changes, 0, asked->is_inclusive);
	add_rows(changes, 1, asked->is_inclusive);
	put_together(changes);
	judge(changes, sample_weight(&before->view) * changes->scale,
	      sample_weight(&after->view));
	judge_total(before, after, changes);
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
	ppi_rows_free(&changes->rows[0]);
	ppi_rows_free(&changes->rows[1]);
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
	if (gate->percent <= 0)
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
