/* SPDX-License-Identifier: MIT */
/* Rows of callers or callees of a function. */
#include "config.h"

#include "tools/view/chains.h"
#include "tools/view/fold.h"
#include "tools/view/rows.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

bool ppi_is_function(const char *wanted, const char *function)
{
	size_t length = strlen(wanted);

	if (strcmp(wanted, function) == 0)
		return true;
	if (strncmp(wanted, function, length) == 0 && function[length] == '(')
		return true;
	return strpbrk(wanted, "*?") && fnmatch(wanted, function, 0) == 0;
}

/* Where a wanted function is in one chain. */
struct found {
	uint32_t caller; /* of the outermost */
	uint32_t callee; /* of the innermost */
	size_t at, caller_at; /* locations of the outermost and its caller */
	size_t inner_at, callee_at; /* of the innermost and what it called */
	bool is_there;
};

static void look(const struct ppi_fold *fold, const bool *is_wanted,
                 const portprof_profile_sample *sample, struct found *found)
{
	uint32_t before = fold->itself_frame, from, to;
	bool is_caller_next = false;
	size_t i = 0, before_at = 0;

	found->is_there = false;
	do {
		ppi_fold_frames(fold, sample, i, &from, &to);
		for (uint32_t frame = from; frame < to; frame++) {
			if (is_caller_next) {
				found->caller = frame;
				found->caller_at = i;
			}
			is_caller_next = is_wanted[frame];
			if (is_caller_next)
				found->at = i;
			if (is_caller_next && !found->is_there) {
				found->callee = before;
				found->callee_at = before_at;
				found->inner_at = i;
			}
			found->is_there |= is_caller_next;
			before = frame;
			before_at = i;
		}
	} while (++i < sample->depth);
	if (is_caller_next) {
		found->caller = fold->nobody_frame;
		found->caller_at = sample->depth;
	}
}

/* What the chain says of the caller, if it can be believed. */
static bool doubt_caller(const struct ppi_fold *fold,
                         const portprof_profile_sample *sample,
                         struct found *found)
{
	struct ppi_chain chain;

	/* what it was inlined into is no matter of chains */
	if (sample->depth == 0 || found->caller_at == found->at)
		return false;
	ppi_chain_judge(fold->view, sample, &chain);
	if ((chain.end == PPI_CHAIN_ENDS || chain.end == PPI_CHAIN_CUT) &&
	    found->at + 1 >= chain.depth) {
		found->caller = fold->lost_frame;
		return false;
	}
	return chain.end != PPI_CHAIN_WHOLE &&
	       ppi_chain_skips_at(fold->view, sample, found->at);
}

/* Whether something in between may be missing. */
static bool doubt_callee(const struct ppi_fold *fold,
                         const portprof_profile_sample *sample,
                         const struct found *found)
{
	struct ppi_chain chain;

	if (sample->depth == 0 || found->callee_at == found->inner_at)
		return false;
	ppi_chain_judge(fold->view, sample, &chain);
	return chain.end != PPI_CHAIN_WHOLE &&
	       ppi_chain_skips_at(fold->view, sample, found->callee_at);
}

static bool fold_edges(struct ppi_fold *fold, const bool *is_wanted,
                       enum ppi_edge edge, struct ppi_rows *rows)
{
	const struct ppi_view *view = fold->view;
	const portprof_profile_sample *sample;
	struct found found = { 0 };

	for (size_t i = 0;
	     (sample = portprof_profile_sample_get(view->profile, i)) != NULL;
	     i++) {
		uint64_t weight = sample->weights[view->event];
		size_t at;

		if (view->is_left_out && view->is_left_out[i])
			continue;
		look(fold, is_wanted, sample, &found);
		if (!found.is_there ||
		    (weight == 0 && sample->samples[view->event] == 0))
			continue;
		if (edge == PPI_CALLERS ? doubt_caller(fold, sample, &found)
		                        : doubt_callee(fold, sample, &found))
			rows->skipping_weight += weight;
		at = ppi_fold_row(fold, sample,
		                  edge == PPI_CALLERS ? found.caller
		                                      : found.callee);
		if (at == SIZE_MAX)
			return false;
		fold->rows[at].self_weight += weight;
		fold->rows[at].total_weight += weight;
		fold->rows[at].samples += sample->samples[view->event];
		rows->weight += weight;
		rows->samples += sample->samples[view->event];
	}
	return true;
}

bool ppi_rows_edges_by(const struct ppi_view *view, unsigned keys,
                       enum ppi_edge edge, const char *function,
                       struct ppi_rows *rows)
{
	struct ppi_fold fold;
	bool *is_wanted = NULL;
	bool is_good = ppi_fold_begin(&fold, view, keys);

	memset(rows, 0, sizeof(*rows));
	if (is_good)
		is_wanted = calloc(fold.frame_count, sizeof(*is_wanted));
	is_good = is_good && is_wanted;
	for (uint32_t i = 0; is_good && i <= fold.unknown_frame; i++)
		is_wanted[i] =
			ppi_is_function(function, fold.frames[i]->function);
	is_good = is_good && fold_edges(&fold, is_wanted, edge, rows);
	free(is_wanted);
	ppi_fold_end(&fold, rows);
	if (!is_good)
		ppi_rows_free(rows);
	return is_good;
}
