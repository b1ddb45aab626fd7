/* SPDX-License-Identifier: MIT */
/* The tree of calls as rows: of what is open. */
#include "config.h"

#include "tools/screen/screen.h"

#include "base/hash.h"
#include "base/vector.h"
#include "tools/view/tree.h"

#include <stdlib.h>
#include <string.h>

/* ---- which branches are open ---- */

static size_t place_of(const struct ppi_screen_open *open, uint64_t key)
{
	const uint64_t *keys = open->keys.data;
	size_t low = 0, high = open->keys.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (keys[middle] < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_at(const struct ppi_screen_open *open, size_t at, uint64_t key)
{
	return at < open->keys.count && PPI_AT(&open->keys, uint64_t)[at] == key;
}

bool ppi_screen_is_open(const struct ppi_screen_open *open, uint64_t key)
{
	return is_at(open, place_of(open, key), key);
}

void ppi_screen_set_open(struct ppi_screen_open *open, uint64_t key,
                         bool is_open)
{
	struct ppi_vector *all = &open->keys;
	size_t at = place_of(open, key), behind = all->count - at;
	uint64_t *keys;

	if (is_open == is_at(open, at, key))
		return;
	/* out of memory: it stays closed */
	if (is_open && !ppi_vector_add(all, sizeof(key), &key, 1))
		return;
	keys = PPI_AT(all, uint64_t) + at;
	if (is_open) {
		memmove(keys + 1, keys, behind * sizeof(*keys));
		*keys = key;
	} else {
		memmove(keys, keys + 1, (behind - 1) * sizeof(*keys));
		all->count--;
	}
}

/* ---- rows ---- */

/* Numbers of nodes differ from look to look; the names on the way do not. */
static uint64_t key_of(uint64_t parent, const struct ppi_symbols_name *name)
{
	uint64_t key = ppi_hash_add(parent ^ PPI_HASH_BEGIN, name->function,
	                            strlen(name->function));

	return ppi_hash_add(key, name->module, strlen(name->module));
}

static bool put_row(const struct ppi_tree *tree, uint32_t node, unsigned depth,
                    uint64_t parent_key, const struct ppi_screen_open *open,
                    struct ppi_vector *rows)
{
	const struct ppi_tree_node *at = ppi_tree_at(tree, node);
	const struct ppi_symbols_name *name = ppi_tree_name(tree, at);
	struct ppi_screen_row row = {
		.function = name->function,
		.module = name->module,
		.thread = "",
		.wait = "",
		.on = "",
		.label = "",
		.self_weight = at->self_weight,
		.total_weight = at->weight,
		.depth = depth,
		.has_children = at->first_child != PPI_NO_PAIR,
		.key = key_of(parent_key, name),
	};

	row.is_open = row.has_children && ppi_screen_is_open(open, row.key);
	return ppi_vector_add(rows, sizeof(row), &row, 1);
}

/* Depth first, by a way that takes no stack. */
static bool put_rows(const struct ppi_tree *tree,
                     const struct ppi_screen_open *open,
                     struct ppi_vector *rows)
{
	struct ppi_vector keys = { 0 }; /* uint64_t, of the nodes above */
	uint32_t node = tree->first_root;
	bool is_good = true;

	while (is_good && node != PPI_NO_PAIR) {
		const struct ppi_tree_node *at = ppi_tree_at(tree, node);
		unsigned depth = (unsigned)keys.count;
		const struct ppi_screen_row *row;

		is_good = put_row(tree, node, depth,
		                  depth ? PPI_AT(&keys, uint64_t)[depth - 1]
		                        : 0,
		                  open, rows);
		if (!is_good)
			break;
		row = &PPI_AT(rows, struct ppi_screen_row)[rows->count - 1];
		if (row->is_open) {
			uint64_t key = row->key;

			is_good = ppi_vector_add(&keys, sizeof(key), &key, 1);
			node = at->first_child;
			continue;
		}
		while (at->next == PPI_NO_PAIR && at->parent != PPI_NO_PAIR) {
			at = ppi_tree_at(tree, at->parent);
			keys.count--;
		}
		node = at->next;
	}
	ppi_vector_free(&keys);
	return is_good;
}

bool ppi_screen_tree_rows(const struct ppi_view *view,
                          const struct ppi_screen_open *open,
                          struct ppi_screen_row **rows, size_t *count,
                          uint64_t *weight)
{
	struct ppi_vector found = { 0 };
	struct ppi_tree tree;
	bool is_good = ppi_tree_grow(&tree, view, PPI_CALLEES, NULL) &&
	               put_rows(&tree, open, &found);

	*rows = found.data;
	*count = found.count;
	*weight = tree.weight;
	ppi_tree_free(&tree);
	if (!is_good) {
		ppi_vector_free(&found);
		*rows = NULL;
		*count = 0;
	}
	return is_good;
}
