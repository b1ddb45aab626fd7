/* SPDX-License-Identifier: MIT */
/* Folds a profile into rows with their weights. */
#include "config.h"

#include "tools/view/rows.h"

#include "tools/view/chains.h"
#include "tools/view/fold.h"

#include <stdlib.h>
#include <string.h>

/* What the leaf of a sample lacks. */
static bool note_leaf(struct ppi_rows *rows, unsigned keys,
                      const struct ppi_symbols_name *name, uint64_t weight)
{
	if (!name->is_named && name->is_stripped &&
	    !ppi_nameless_add(&rows->nameless, name->module, weight))
		return false;
	if (name->advice && !ppi_nameless_add(&rows->made, name->advice, weight))
		return false;
	return !(keys & PPI_BY_LINE) || name->line ||
	       ppi_nameless_add(&rows->lineless, name->module, weight);
}

/* A row gets a sample's weight once, however often it is in its chain. */
static bool charge(struct ppi_fold *fold, size_t index,
                   const portprof_profile_sample *sample, uint32_t frame,
                   bool is_leaf)
{
	uint64_t weight = sample->weights[fold->view->event];
	size_t at = ppi_fold_row(fold, sample, frame);

	if (at == SIZE_MAX)
		return false;
	if (is_leaf) {
		fold->rows[at].self_weight += weight;
		fold->rows[at].samples += sample->samples[fold->view->event];
	}
	if (fold->last_samples[at] != index + 1)
		fold->rows[at].total_weight += weight;
	fold->last_samples[at] = index + 1;
	return true;
}

static bool fold_sample(struct ppi_fold *fold, size_t index,
                        const portprof_profile_sample *sample,
                        struct ppi_rows *rows)
{
	size_t depth = fold->keys & PPI_BY_CODE ? sample->depth : 0;
	size_t i = 0;
	uint32_t leaf, leaf_end, from, to;

	/* what is no code has no row */
	if (depth > 1)
		depth = ppi_chain_depth(fold->view, sample);

	ppi_fold_frames(fold, sample, 0, &leaf, &leaf_end);
	do {
		ppi_fold_frames(fold, sample, i, &from, &to);
		for (uint32_t frame = from; frame < to; frame++)
			if (!charge(fold, index, sample, frame,
			            frame == from && i == 0))
				return false;
	} while (++i < depth);
	rows->has_chains |= depth > 1 || (depth && leaf_end - leaf > 1);
	rows->weight += sample->weights[fold->view->event];
	rows->samples += sample->samples[fold->view->event];
	return note_leaf(rows, fold->keys, fold->frames[leaf],
	                 sample->weights[fold->view->event]);
}

static bool fold_all(struct ppi_fold *fold, struct ppi_rows *rows)
{
	const struct ppi_view *view = fold->view;
	const portprof_profile_sample *sample;

	for (size_t i = 0;
	     (sample = portprof_profile_sample_get(view->profile, i)) != NULL;
	     i++) {
		uint64_t weight = sample->weights[view->event];
		uint64_t samples = sample->samples[view->event];

		if (weight == 0 && samples == 0)
			continue;
		if (view->is_left_out && view->is_left_out[i]) {
			rows->left_weight += weight;
			rows->left_samples += samples;
		} else if (!fold_sample(fold, i, sample, rows)) {
			return false;
		}
	}
	return true;
}

bool ppi_rows_fold(const struct ppi_view *view, unsigned keys,
                   struct ppi_rows *rows)
{
	struct ppi_fold fold;
	bool is_good;

	memset(rows, 0, sizeof(*rows));
	rows->has_chains =
		keys & PPI_BY_CODE &&
		portprof_profile_origin_get(view->profile)->chain_depth > 0;
	is_good = ppi_fold_begin(&fold, view, keys) && fold_all(&fold, rows);
	ppi_fold_end(&fold, rows);
	ppi_nameless_sort(&rows->nameless);
	ppi_nameless_sort(&rows->lineless);
	ppi_nameless_sort(&rows->made);
	if (!is_good)
		ppi_rows_free(rows);
	return is_good;
}

void ppi_rows_free(struct ppi_rows *rows)
{
	free(rows->rows);
	free(rows->nameless.modules);
	free(rows->lineless.modules);
	free(rows->made.modules);
	ppi_labels_close(&rows->labels);
	memset(rows, 0, sizeof(*rows));
}
