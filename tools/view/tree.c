/* SPDX-License-Identifier: MIT */
/* All calls as a tree of functions: samples are added up along their chains. */
#include "config.h"

#include "tools/view/tree.h"

#include "tools/view/chains.h"
#include "tools/view/short_names.h"

#include <stdlib.h>
#include <string.h>

/* ---- one chain ---- */

static bool put_on_path(struct ppi_tree *tree, uint32_t frame)
{
	return ppi_vector_add(&tree->path, sizeof(frame), &frame, 1);
}

/* Whether callers of its outermost frame are missing. */
static bool is_cut(const struct ppi_chain *chain)
{
	return chain->end == PPI_CHAIN_CUT || chain->end == PPI_CHAIN_ENDS;
}

static bool find_path(struct ppi_tree *tree, const portprof_profile_sample *sample)
{
	struct ppi_chain chain = { .depth = 1 };
	bool is_good = true;
	uint32_t from, to;

	tree->path.count = 0;
	if (sample->depth)
		ppi_chain_judge(tree->fold.view, sample, &chain);
	if (sample->depth && is_cut(&chain))
		is_good = put_on_path(tree, tree->fold.lost_frame);
	for (size_t i = chain.depth; is_good && i-- > 0;) {
		ppi_fold_frames(&tree->fold, sample, i, &from, &to);
		while (is_good && to-- > from)
			is_good = put_on_path(tree, to);
	}
	return is_good;
}

/* ---- nodes ---- */

static uint32_t enter(struct ppi_tree *tree, uint32_t parent, uint32_t frame)
{
	const struct ppi_tree_node node = { .frame = frame, .parent = parent,
		                   .first_child = PPI_NO_PAIR,
		                   .next = PPI_NO_PAIR };
	uint32_t known = tree->pairs.count;
	uint32_t at = ppi_pairs_enter(&tree->pairs, parent + 1,
	                              ppi_fold_place(&tree->fold, frame));

	if (at != known || at == PPI_NO_PAIR)
		return at;
	if (!ppi_vector_add(&tree->nodes, sizeof(node), &node, 1))
		return PPI_NO_PAIR;
	return at;
}

/* Where on the path the tree begins: at the outermost of the functions that
 * are wanted; SIZE_MAX where there is none. */
static size_t find_start(const struct ppi_tree *tree)
{
	if (!tree->is_wanted)
		return 0;
	for (size_t i = 0; i < tree->path.count; i++)
		if (tree->is_wanted[PPI_AT(&tree->path, uint32_t)[i]])
			return i;
	return SIZE_MAX;
}

static bool add_weight(struct ppi_tree *tree, uint64_t weight)
{
	const uint32_t *path = tree->path.data;
	size_t start = find_start(tree), count;
	uint32_t at = PPI_NO_PAIR;
	bool is_up = tree->edge == PPI_CALLERS;

	if (start == SIZE_MAX)
		return true;
	tree->weight += weight;
	count = is_up ? start + 1 : tree->path.count - start;
	for (size_t i = 0; i < count; i++) {
		/* + 1 makes the parent of a root 0 */
		at = enter(tree, at, path[is_up ? start - i : start + i]);
		if (at == PPI_NO_PAIR)
			return false;
		PPI_AT(&tree->nodes, struct ppi_tree_node)[at].weight += weight;
	}
	PPI_AT(&tree->nodes, struct ppi_tree_node)[at].self_weight += weight;
	return true;
}

static bool add_samples(struct ppi_tree *tree)
{
	const struct ppi_view *view = tree->fold.view;
	const portprof_profile_sample *sample;

	for (size_t i = 0;
	     (sample = portprof_profile_sample_get(view->profile, i)) != NULL;
	     i++) {
		uint64_t weight = ppi_view_weight(view, i, sample);

		if (!ppi_view_has(view, i) || weight == 0)
			continue;
		if (!find_path(tree, sample) || !add_weight(tree, weight))
			return false;
	}
	return true;
}

/* ---- in order ---- */

struct order {
	uint64_t weight;
	uint32_t node;
};

/* Rising, so that linking each as the first leaves the heaviest first. */
static int compare(const void *left, const void *right)
{
	const struct order *a = left, *b = right;

	if (a->weight != b->weight)
		return a->weight < b->weight ? -1 : 1;
	return a->node > b->node ? -1 : 1;
}

static bool link_children(struct ppi_tree *tree)
{
	struct ppi_tree_node *nodes = tree->nodes.data;
	uint32_t count = tree->pairs.count;
	struct order *order = calloc(count + 1u, sizeof(*order));

	if (!order)
		return false;
	for (uint32_t i = 0; i < count; i++)
		order[i] = (struct order){ nodes[i].weight, i };
	qsort(order, count, sizeof(*order), compare);
	tree->first_root = PPI_NO_PAIR;
	for (uint32_t i = 0; i < count; i++) {
		struct ppi_tree_node *node = &nodes[order[i].node];
		uint32_t *first = node->parent == PPI_NO_PAIR
		                          ? &tree->first_root
		                          : &nodes[node->parent].first_child;

		node->next = *first;
		*first = order[i].node;
	}
	free(order);
	return true;
}

bool ppi_tree_grow(struct ppi_tree *tree, const struct ppi_view *view,
                   enum ppi_edge edge, const char *function)
{
	bool is_good;

	memset(tree, 0, sizeof(*tree));
	tree->edge = edge;
	tree->first_root = PPI_NO_PAIR;
	is_good = ppi_fold_begin(&tree->fold, view,
	                         PPI_BY_FUNCTION | PPI_BY_MODULE);
	if (is_good && function) {
		tree->is_wanted = calloc(tree->fold.frame_count,
		                         sizeof(*tree->is_wanted));
		is_good = tree->is_wanted != NULL;
	}
	if (is_good && function)
		ppi_functions_meant(function, tree->fold.unknown_frame + 1u,
		                    ppi_fold_function, &tree->fold,
		                    tree->is_wanted);
	return is_good && add_samples(tree) && link_children(tree);
}

void ppi_tree_free(struct ppi_tree *tree)
{
	struct ppi_rows rows;

	free(tree->is_wanted);
	ppi_vector_free(&tree->path);
	ppi_vector_free(&tree->nodes);
	ppi_pairs_free(&tree->pairs);
	memset(&rows, 0, sizeof(rows));
	ppi_fold_end(&tree->fold, &rows);
	ppi_rows_free(&rows);
}
