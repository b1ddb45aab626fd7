/* SPDX-License-Identifier: MIT */
/*
 * Rows: who had how much of an event, and who called a function or was called
 * by it. A view is folded into rows by keys.
 */
#ifndef PPI_ROWS_H
#define PPI_ROWS_H

#include <portprof.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vector.h"
#include "tools/view/owners.h"
#include "tools/view/view.h"
#include "tools/view/wall.h"

/* Strings belong to the symbols and the profile, labels to the rows; NULL, 0
 * where not folded by them. */
struct ppi_row {
	const char *function, *module, *path;
	const char *made_in; /* of struct ppi_symbols_name, of one of its places */
	const char *source_file; /* "" unknown */
	uint64_t line;
	uint64_t address;
	uint32_t pid, tid;
	const char *thread; /* its name; "" unknown */
	const char *label;  /* its value */
	const char *tags[PPI_TAGS]; /* "" without one */
	bool is_named;
	uint64_t self_weight;  /* its own samples */
	uint64_t total_weight; /* and those of what it called; without chains
	                        * the same as self_weight */
	uint64_t samples;
	uint64_t cpu_weight; /* self; of a view of latency */
};

struct ppi_rows {
	struct ppi_row *rows; /* largest self_weight first */
	size_t count;
	uint64_t weight, samples;           /* of all rows */
	uint64_t cpu_weight;                /* likewise */
	uint64_t left_weight, left_samples; /* of what the view leaves out */
	uint64_t idle_weight, idle_samples; /* of idle waits, likewise */
	bool has_chains;
	uint64_t skipping_weight; /* of edges that leave a function out: the
	                           * inner one keeps no frame pointer */
	struct ppi_nameless_list nameless, lineless;
	struct ppi_nameless_list made; /* code made while running, by advice */
	struct ppi_labels labels; /* texts of rows */
	struct ppi_labels tags[PPI_TAGS];
};

/* The name of a row's function, as ppi_functions_meant asks for it. */
const char *ppi_row_function(const void *rows, size_t i);

/* "; did you mean A, B or C?" of the functions of a view, as ppi_functions_like
 * has it; of names that are as like, the hottest comes first. Returns `out`. */
const char *ppi_rows_like(const struct ppi_view *view, const char *wanted,
                          char *out, size_t bytes);

/* Put what has most with all it called first. */
void ppi_rows_by_total(struct ppi_rows *rows);

/* Fold a view by `keys` (PPI_BY_ bits). False when out of memory. */
bool ppi_rows_fold(const struct ppi_view *view, unsigned keys,
                   struct ppi_rows *rows);
void ppi_rows_free(struct ppi_rows *rows);

/* ---- edges ---- */

/*
 * Who called the functions of that name, and what they called: the caller of
 * the outermost one in a chain, and what the innermost one called, so that
 * both make the functions' whole weight however they call themselves. It
 * stands in self_weight; "(nobody)" is the caller of what begins a chain,
 * "(unknown)" of what a chain broke off at, "(itself)" the code of the
 * function.
 */
enum ppi_edge { PPI_CALLERS, PPI_CALLEES };
bool ppi_rows_edges(const struct ppi_view *view, unsigned keys,
                    enum ppi_edge edge, const char *function,
                    struct ppi_rows *rows);

/* ---- how rows are made, also of a tree ---- */

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
	struct ppi_labels tags[PPI_TAGS];
	/* Of owner and label; of that and the first tag; and so on. */
	struct ppi_pairs labelled, tagged[PPI_TAGS];
	struct ppi_pairs pairs; /* of the last of those, or owner, and place:
	                         * one for each row */

	struct ppi_vector rows;         /* of struct ppi_row */
	struct ppi_vector last_samples; /* size_t of each: 1 + the last whose
	                                 * total it has */
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

/* The name of a frame's function, as ppi_functions_meant asks for it. */
const char *ppi_fold_function(const void *fold, size_t frame);

/* Hand the rows over, sorted, and free the rest. */
void ppi_fold_end(struct ppi_fold *fold, struct ppi_rows *rows);

#endif
