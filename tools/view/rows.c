/* SPDX-License-Identifier: MIT */
/* Rows: a view folded by keys, and by who called a function or was called by
 * it. */
#include "config.h"

#include "tools/view/rows.h"

#include "tools/view/chains.h"
#include "tools/view/short_names.h"

#include <stdlib.h>
#include <string.h>

#include <uthash.h>

/* ---- their order ---- */

static int compare_text(const char *left, const char *right)
{
	return strcmp(left ? left : "", right ? right : "");
}

static int compare_number(uint64_t left, uint64_t right)
{
	return left < right ? -1 : left > right;
}

static int compare_names(const struct ppi_row *a, const struct ppi_row *b)
{
	int order = compare_text(a->function, b->function);

	if (order == 0)
		order = compare_text(a->path, b->path);
	if (order == 0)
		order = compare_text(a->source_file, b->source_file);
	if (order == 0)
		order = compare_number(a->line, b->line);
	if (order == 0)
		order = compare_number(a->address, b->address);
	if (order == 0)
		order = compare_number(a->pid, b->pid);
	if (order == 0)
		order = compare_number(a->tid, b->tid);
	if (order == 0)
		order = compare_text(a->thread, b->thread);
	if (order == 0)
		order = compare_text(a->label, b->label);
	for (size_t i = 0; order == 0 && i < PPI_TAGS; i++)
		order = compare_text(a->tags[i], b->tags[i]);
	return order;
}

/* Equal rows stand in the same order in every run. */
static int compare_self(const void *left, const void *right)
{
	const struct ppi_row *a = left, *b = right;
	int order = compare_number(b->self_weight, a->self_weight);

	if (order == 0)
		order = compare_number(b->total_weight, a->total_weight);
	return order ? order : compare_names(a, b);
}

static int compare_total(const void *left, const void *right)
{
	const struct ppi_row *a = left, *b = right;
	int order = compare_number(b->total_weight, a->total_weight);

	return order ? order : compare_self(a, b);
}

static void sort_by_self(struct ppi_rows *rows)
{
	if (rows->count)
		qsort(rows->rows, rows->count, sizeof(*rows->rows),
		      compare_self);
}

void ppi_rows_by_total(struct ppi_rows *rows)
{
	if (rows->count)
		qsort(rows->rows, rows->count, sizeof(*rows->rows),
		      compare_total);
}

/* ---- frames, places and their rows ---- */

/* Where a frame belongs is found once for each location, and whose it is once
 * for each thread, so that a sample costs little more than a look into an array
 * for each of its frames. */

/* Strings are kept once each, so their addresses distinguish them. */
struct key {
	const char *function, *path, *source_file;
	uint64_t address, line;
};

struct ppi_place {
	UT_hash_handle hh;
	struct key key;
	const struct ppi_symbols_name *name;
	uint32_t number;
	size_t row; /* where keys have no owner; SIZE_MAX none yet */
};

/* What is in no profile: code nobody knows, and the ends of calls. */
static const struct ppi_symbols_name made_up[] = {
	{ .function = "[unknown]",
	  .module = "[unknown]",
	  .path = "",
	  .source_file = "" },
	{ .function = "(nobody)",
	  .module = "",
	  .path = "",
	  .source_file = "",
	  .is_named = true },
	{ .function = "(itself)",
	  .module = "",
	  .path = "",
	  .source_file = "",
	  .is_named = true },
	{ .function = "(unknown)",
	  .module = "",
	  .path = "",
	  .source_file = "",
	  .is_named = true },
};

enum { MADE_UP = sizeof(made_up) / sizeof(made_up[0]) };

static size_t count_frames(const struct ppi_view *view, size_t locations)
{
	size_t count = 0;

	for (size_t i = 0; i < locations; i++)
		for (const struct ppi_symbols_name *name = &view->names[i];
		     name; name = name->caller)
			count++;
	return count;
}

/* Addresses tell code apart that was made while running, where those or lines
 * are asked for. */
static const char *function_of(const struct ppi_fold *fold,
                               const struct ppi_symbols_name *name)
{
	return name->by_address &&
	                       fold->keys & (PPI_BY_ADDRESS | PPI_BY_LINE)
	               ? name->by_address
	               : name->function;
}

static struct ppi_place *place_of(struct ppi_fold *fold, uint64_t address,
                                  const struct ppi_symbols_name *name)
{
	struct ppi_place *place;
	struct key key;

	memset(&key, 0, sizeof(key)); /* padding is compared too */
	if (fold->keys & PPI_BY_FUNCTION)
		key.function = function_of(fold, name);
	if (fold->keys & PPI_BY_MODULE)
		key.path = name->path;
	if (fold->keys & PPI_BY_LINE) {
		key.source_file = name->source_file;
		key.line = name->line;
	}
	if (fold->keys & PPI_BY_ADDRESS)
		key.address = address;
	HASH_FIND(hh, fold->place_table, &key, sizeof(key), place);
	if (place)
		return place;
	place = malloc(sizeof(*place));
	if (!place)
		return NULL;
	place->key = key;
	place->name = name;
	place->number = fold->place_count++;
	place->row = SIZE_MAX;
	HASH_ADD(hh, fold->place_table, key, sizeof(place->key), place);
	return place;
}

/* Code of a file that says neither its name nor where it lies is one row with
 * that of samples without any. */
static bool is_unknown(const struct ppi_fold *fold,
                       const struct ppi_symbols_name *name)
{
	return !(fold->keys & PPI_BY_LINE) && !name->is_named &&
	       !name->path[0] &&
	       strcmp(name->function, made_up[0].function) == 0;
}

static bool add_frame(struct ppi_fold *fold, uint32_t frame, uint64_t address,
                      const struct ppi_symbols_name *name)
{
	if (is_unknown(fold, name))
		name = &made_up[0];
	fold->frames[frame] = name;
	fold->places[frame] = place_of(fold, address, name);
	return fold->places[frame] != NULL;
}

static bool find_places(struct ppi_fold *fold)
{
	const struct ppi_view *view = fold->view;
	uint32_t frame = 0;
	bool is_good = true;

	for (size_t i = 0; is_good && i < fold->location_count; i++) {
		/* in the file, as objdump prints it, where that is known */
		uint64_t address =
			view->names[i].vaddr
				? view->names[i].vaddr
				: portprof_profile_location_get(view->profile,
		                                                i)->address;

		fold->first_frame[i] = frame;
		for (const struct ppi_symbols_name *name = &view->names[i];
		     is_good && name; name = name->caller)
			is_good = add_frame(fold, frame++, address, name);
	}
	fold->first_frame[fold->location_count] = frame;
	fold->unknown_frame = frame;
	fold->nobody_frame = frame + 1;
	fold->itself_frame = frame + 2;
	fold->lost_frame = frame + 3;
	fold->frame_count = frame + MADE_UP;
	for (uint32_t i = 0; is_good && i < MADE_UP; i++)
		is_good = add_frame(fold, frame + i, 0, &made_up[i]);
	return is_good;
}

bool ppi_fold_begin(struct ppi_fold *fold, const struct ppi_view *view,
                    unsigned keys)
{
	size_t frames;

	memset(fold, 0, sizeof(*fold));
	fold->view = view;
	fold->keys = keys;
	ppi_labels_open(&fold->labels, view->profile,
	                view->label ? view->label : "");
	for (int i = 0; i < PPI_TAGS; i++)
		ppi_tag_open(&fold->tags[i], view->profile, (enum ppi_tag)i);
	if (!ppi_owners_open(&fold->owners, view->profile, keys))
		return false;
	fold->location_count = portprof_profile_location_count(view->profile);
	frames = count_frames(view, fold->location_count) + MADE_UP;
	if (frames >= UINT32_MAX)
		return false;
	fold->first_frame =
		calloc(fold->location_count + 1, sizeof(*fold->first_frame));
	fold->frames = calloc(frames, sizeof(*fold->frames));
	fold->places = calloc(frames, sizeof(*fold->places));
	return fold->first_frame && fold->frames && fold->places &&
	       find_places(fold);
}

void ppi_fold_frames(const struct ppi_fold *fold,
                     const portprof_profile_sample *sample, size_t i,
                     uint32_t *from, uint32_t *to)
{
	if (sample->depth == 0) {
		*from = fold->unknown_frame;
		*to = *from + 1;
	} else {
		*from = fold->first_frame[sample->locations[i]];
		*to = fold->first_frame[sample->locations[i] + 1];
	}
}

uint32_t ppi_fold_place(const struct ppi_fold *fold, uint32_t frame)
{
	return fold->places[frame]->number;
}

/* Whose a row is. */
struct whose {
	const struct ppi_owner *owner;
	const struct ppi_label_value *label, *tags[PPI_TAGS];
	uint32_t number;
};

static size_t add_row(struct ppi_fold *fold, const struct ppi_place *place,
                      const struct whose *whose)
{
	const struct ppi_owner *owner = whose->owner;
	struct ppi_row row = {
		.function = place->key.function,
		.path = place->key.path,
		.source_file = place->key.source_file,
		.line = place->key.line,
		.address = place->key.address,
		.thread = owner && fold->keys & PPI_BY_OWNER ? owner->name : "",
		.pid = owner ? owner->pid : 0,
		.tid = owner ? owner->tid : 0,
		.label = whose->label ? whose->label->text : NULL,
		.is_named = place->name->is_named,
	};
	if (fold->keys & PPI_BY_MODULE) {
		row.module = place->name->module;
		row.made_in = place->name->made_in;
	}
	for (size_t i = 0; i < PPI_TAGS; i++)
		row.tags[i] = whose->tags[i] ? whose->tags[i]->text : NULL;
	if (!ppi_vector_add(&fold->last_samples, sizeof(size_t), NULL, 1) ||
	    !ppi_vector_add(&fold->rows, sizeof(row), &row, 1))
		return SIZE_MAX;
	return fold->rows.count - 1;
}

static size_t row_of_place(struct ppi_fold *fold, struct ppi_place *place)
{
	static const struct whose nobody;

	if (place->row == SIZE_MAX)
		place->row = add_row(fold, place, &nobody);
	return place->row;
}

/* False when out of memory. */
static bool find_whose(struct ppi_fold *fold,
                       const portprof_profile_sample *sample,
                       struct whose *whose)
{
	memset(whose, 0, sizeof(*whose));
	whose->owner = ppi_owners_find(&fold->owners, sample);
	if (!whose->owner)
		return false;
	whose->number = whose->owner->number;
	if (fold->keys & PPI_BY_LABEL) {
		whose->label = ppi_labels_find(&fold->labels, sample);
		if (!whose->label)
			return false;
		whose->number = ppi_pairs_enter(&fold->labelled, whose->number,
		                                whose->label->number);
	}
	for (unsigned i = 0; i < PPI_TAGS; i++) {
		if (!(fold->keys & PPI_BY_STATE << i))
			continue;
		whose->tags[i] = ppi_labels_find(&fold->tags[i], sample);
		if (!whose->tags[i] || whose->number == PPI_NO_PAIR)
			return false;
		whose->number = ppi_pairs_enter(&fold->tagged[i], whose->number,
		                                whose->tags[i]->number);
	}
	return whose->number != PPI_NO_PAIR;
}

/* The number of the row for this frame, SIZE_MAX when out of memory. */
static size_t row_of_frame(struct ppi_fold *fold,
                           const portprof_profile_sample *sample,
                           uint32_t frame)
{
	struct ppi_place *place = fold->places[frame];
	struct whose whose;
	uint32_t known = fold->pairs.count, pair;

	if (!(fold->keys & PPI_BY_SAMPLE))
		return row_of_place(fold, place);
	if (!find_whose(fold, sample, &whose))
		return SIZE_MAX;
	pair = ppi_pairs_enter(&fold->pairs, whose.number, place->number);
	if (pair == PPI_NO_PAIR)
		return SIZE_MAX;
	return pair == known ? add_row(fold, place, &whose) : pair;
}

void ppi_fold_end(struct ppi_fold *fold, struct ppi_rows *rows)
{
	struct ppi_place *place, *next;

	rows->rows = fold->rows.data;
	rows->count = fold->rows.count;
	rows->labels = fold->labels;
	memcpy(rows->tags, fold->tags, sizeof(rows->tags));
	sort_by_self(rows);
	HASH_ITER (hh, fold->place_table, place, next) {
		HASH_DEL(fold->place_table, place);
		free(place);
	}
	ppi_owners_close(&fold->owners);
	ppi_pairs_free(&fold->pairs);
	ppi_pairs_free(&fold->labelled);
	for (size_t i = 0; i < PPI_TAGS; i++)
		ppi_pairs_free(&fold->tagged[i]);
	free(fold->first_frame);
	free(fold->frames);
	free(fold->places);
	ppi_vector_free(&fold->last_samples);
}

/* ---- a view by keys ---- */

/* What the leaf of a sample lacks. */
static bool note_leaf(struct ppi_rows *rows, unsigned keys,
                      const struct ppi_symbols_name *name, uint64_t weight)
{
	if (!name->is_named && name->is_stripped &&
	    !ppi_nameless_add(&rows->nameless, name->module, weight))
		return false;
	if (name->advice &&
	    !ppi_nameless_add(&rows->made, name->advice, weight))
		return false;
	return !(keys & PPI_BY_LINE) || name->line ||
	       ppi_nameless_add(&rows->lineless, name->module, weight);
}

static uint64_t cpu_weight(const struct ppi_view *view,
                           const portprof_profile_sample *sample)
{
	return view->is_latency ? sample->weights[view->event] : 0;
}

/* A row gets a sample's weight once, however often it is in its chain. */
static bool charge(struct ppi_fold *fold, size_t index,
                   const portprof_profile_sample *sample, uint32_t frame,
                   bool is_leaf)
{
	uint64_t weight = ppi_view_weight(fold->view, index, sample);
	size_t at = row_of_frame(fold, sample, frame), *last;
	struct ppi_row *row;

	if (at == SIZE_MAX)
		return false;
	row = &PPI_AT(&fold->rows, struct ppi_row)[at];
	last = &PPI_AT(&fold->last_samples, size_t)[at];
	if (is_leaf) {
		row->self_weight += weight;
		row->cpu_weight += cpu_weight(fold->view, sample);
		row->samples += ppi_view_samples(fold->view, index, sample);
	}
	if (*last != index + 1)
		row->total_weight += weight;
	*last = index + 1;
	return true;
}

static bool fold_sample(struct ppi_fold *fold, size_t index,
                        const portprof_profile_sample *sample,
                        struct ppi_rows *rows)
{
	size_t depth = fold->keys & PPI_BY_CODE ? sample->depth : 0;
	uint64_t weight = ppi_view_weight(fold->view, index, sample);
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
	rows->weight += weight;
	rows->cpu_weight += cpu_weight(fold->view, sample);
	rows->samples += ppi_view_samples(fold->view, index, sample);
	return note_leaf(rows, fold->keys, fold->frames[leaf], weight);
}

static bool fold_all(struct ppi_fold *fold, struct ppi_rows *rows)
{
	const struct ppi_view *view = fold->view;
	const portprof_profile_sample *sample;

	for (size_t i = 0;
	     (sample = portprof_profile_sample_get(view->profile, i)) != NULL;
	     i++) {
		uint64_t weight = ppi_view_weight(view, i, sample);
		uint64_t samples = ppi_view_samples(view, i, sample);

		if (weight == 0 && samples == 0)
			continue;
		if (view->is_idle && view->is_idle[i]) {
			rows->idle_weight += weight;
			rows->idle_samples += samples;
		} else if (view->is_left_out && view->is_left_out[i]) {
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
	for (size_t i = 0; i < PPI_TAGS; i++)
		ppi_labels_close(&rows->tags[i]);
	memset(rows, 0, sizeof(*rows));
}

/* ---- callers and callees of a function ---- */

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
		uint64_t weight = ppi_view_weight(view, i, sample);
		uint64_t samples = ppi_view_samples(view, i, sample);
		struct ppi_row *row;
		size_t at;

		if (!ppi_view_has(view, i))
			continue;
		look(fold, is_wanted, sample, &found);
		if (!found.is_there ||
		    (weight == 0 && samples == 0))
			continue;
		if (edge == PPI_CALLERS ? doubt_caller(fold, sample, &found)
		                        : doubt_callee(fold, sample, &found))
			rows->skipping_weight += weight;
		at = row_of_frame(fold, sample,
		                  edge == PPI_CALLERS ? found.caller
		                                      : found.callee);
		if (at == SIZE_MAX)
			return false;
		row = &PPI_AT(&fold->rows, struct ppi_row)[at];
		row->self_weight += weight;
		row->total_weight += weight;
		row->cpu_weight += cpu_weight(view, sample);
		rows->cpu_weight += cpu_weight(view, sample);
		row->samples += samples;
		rows->weight += weight;
		rows->samples += samples;
	}
	return true;
}

const char *ppi_row_function(const void *rows, size_t i)
{
	return ((const struct ppi_rows *)rows)->rows[i].function;
}

const char *ppi_rows_like(const struct ppi_view *view, const char *wanted,
                          char *out, size_t bytes)
{
	struct ppi_rows rows;

	out[0] = '\0';
	if (!ppi_rows_fold(view, PPI_BY_FUNCTION, &rows))
		return out;
	ppi_functions_like(wanted, rows.count, ppi_row_function, &rows, out,
	                   bytes);
	ppi_rows_free(&rows);
	return out;
}

const char *ppi_fold_function(const void *fold, size_t frame)
{
	return ((const struct ppi_fold *)fold)->frames[frame]->function;
}

bool ppi_rows_edges(const struct ppi_view *view, unsigned keys,
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
	if (is_good)
		ppi_functions_meant(function, fold.unknown_frame + 1u,
		                    ppi_fold_function, &fold, is_wanted);
	is_good = is_good && fold_edges(&fold, is_wanted, edge, rows);
	free(is_wanted);
	ppi_fold_end(&fold, rows);
	if (!is_good)
		ppi_rows_free(rows);
	return is_good;
}
