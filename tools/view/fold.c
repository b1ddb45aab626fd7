/* SPDX-License-Identifier: MIT */
/*
 * Samples being added up in rows. Where a frame belongs is found once for each
 * location, and whose it is once for each thread, so that a sample costs
 * little more than a look into an array for each of its frames.
 */
#include "config.h"

#include "tools/view/fold.h"

#include <stdlib.h>
#include <string.h>

#include <uthash.h>

/* Strings are kept once each, so their addresses tell them apart. */
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

static bool add_frame(struct ppi_fold *fold, uint32_t frame, uint64_t address,
                      const struct ppi_symbols_name *name)
{
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

/* ---- rows ---- */

static bool make_room(struct ppi_fold *fold)
{
	size_t room = fold->row_room ? 2 * fold->row_room : 64;
	void *grown;

	if (fold->row_count < fold->row_room)
		return true;
	grown = realloc(fold->rows, room * sizeof(*fold->rows));
	if (!grown)
		return false;
	fold->rows = grown;
	grown = realloc(fold->last_samples, room * sizeof(*fold->last_samples));
	if (!grown)
		return false;
	fold->last_samples = grown;
	fold->row_room = room;
	return true;
}

static size_t add_row(struct ppi_fold *fold, const struct ppi_place *place,
                      const struct ppi_owner *owner,
                      const struct ppi_label_value *label)
{
	struct ppi_row *row;

	if (!make_room(fold))
		return SIZE_MAX;
	fold->last_samples[fold->row_count] = 0;
	row = &fold->rows[fold->row_count];
	*row = (struct ppi_row){
		.function = place->key.function,
		.path = place->key.path,
		.source_file = place->key.source_file,
		.line = place->key.line,
		.address = place->key.address,
		.thread = owner ? owner->name : "",
		.pid = owner ? owner->pid : 0,
		.tid = owner ? owner->tid : 0,
		.label = label ? label->text : NULL,
		.is_named = place->name->is_named,
	};
	if (fold->keys & PPI_BY_MODULE)
		row->module = place->name->module;
	return fold->row_count++;
}

static size_t row_of_place(struct ppi_fold *fold, struct ppi_place *place)
{
	if (place->row == SIZE_MAX)
		place->row = add_row(fold, place, NULL, NULL);
	return place->row;
}

size_t ppi_fold_row(struct ppi_fold *fold,
                    const portprof_profile_sample *sample, uint32_t frame)
{
	struct ppi_place *place = fold->places[frame];
	const struct ppi_owner *owner;
	const struct ppi_label_value *label = NULL;
	uint32_t known = fold->pairs.count, who, pair;

	if (!(fold->keys & PPI_BY_SAMPLE))
		return row_of_place(fold, place);
	owner = ppi_owners_find(&fold->owners, sample);
	if (!owner)
		return SIZE_MAX;
	who = owner->number;
	if (fold->keys & PPI_BY_LABEL) {
		label = ppi_labels_find(&fold->labels, sample);
		if (!label)
			return SIZE_MAX;
		who = ppi_pairs_enter(&fold->labelled, who, label->number);
	}
	pair = ppi_pairs_enter(&fold->pairs, who, place->number);
	if (who == PPI_NO_PAIR || pair == PPI_NO_PAIR)
		return SIZE_MAX;
	return pair == known ? add_row(fold, place, owner, label) : pair;
}

void ppi_fold_end(struct ppi_fold *fold, struct ppi_rows *rows)
{
	struct ppi_place *place, *next;

	rows->rows = fold->rows;
	rows->count = fold->row_count;
	rows->labels = fold->labels;
	ppi_rows_by_self(rows);
	HASH_ITER (hh, fold->place_table, place, next) {
		HASH_DEL(fold->place_table, place);
		free(place);
	}
	ppi_owners_close(&fold->owners);
	ppi_pairs_free(&fold->pairs);
	ppi_pairs_free(&fold->labelled);
	free(fold->first_frame);
	free(fold->frames);
	free(fold->places);
	free(fold->last_samples);
}
