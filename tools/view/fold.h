/* SPDX-License-Identifier: MIT */
/* Adds up samples in rows: code that folding by keys and by calls share. */
#ifndef PPI_REPORT_FOLD_H
#define PPI_REPORT_FOLD_H

#include "tools/view/owners.h"
#include "tools/view/row.h"

struct ppi_place;

/*
 * A frame is a function at a location: most locations have one, those of
 * inlined calls more. Frames of one place (function, module, ...) and one
 * owner (thread, ...) share a row.
 */
struct ppi_fold {
	const struct ppi_view *view;
	unsigned keys;
	size_t location_count;
	uint32_t *first_frame; /* of a location; one more behind them all */
	const struct ppi_symbols_name **frames; /* then the three below */
	struct ppi_place **places;              /* of frames */
	uint32_t unknown_frame, nobody_frame, itself_frame, lost_frame;
	uint32_t frame_count;

	struct ppi_place *place_table;
	uint32_t place_count;
	struct ppi_owners owners;
	struct ppi_labels labels;
	struct ppi_pairs labelled; /* of owner and label */
	struct ppi_pairs pairs; /* of those, or owner, and place: one for each
	                         * row */

	struct ppi_row *rows;
	size_t *last_samples; /* of rows: 1 + the last whose total it has */
	size_t row_count, row_room;
};

/* False when out of memory; ppi_fold_end is due all the same. */
bool ppi_fold_begin(struct ppi_fold *fold, const struct ppi_view *view,
                    unsigned keys);

/* The frames of the sample's i-th location: [*from, *to). A sample without
 * locations has one that nobody knows. */
void ppi_fold_frames(const struct ppi_fold *fold,
                     const portprof_profile_sample *sample, size_t i,
                     uint32_t *from, uint32_t *to);

/* Frames of the same place have the same number. */
uint32_t ppi_fold_place(const struct ppi_fold *fold, uint32_t frame);

/* The number of the row for this frame, SIZE_MAX when out of memory. */
size_t ppi_fold_row(struct ppi_fold *fold,
                    const portprof_profile_sample *sample, uint32_t frame);

/* Hand the rows over, sorted, and free the rest. */
void ppi_fold_end(struct ppi_fold *fold, struct ppi_rows *rows);

#endif
