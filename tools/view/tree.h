/* SPDX-License-Identifier: MIT */
/* All calls as a tree of functions: downwards from where threads begin or from one
 * function, or upwards from that to its callers. */
#ifndef PPI_TREE_H
#define PPI_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vector.h"
#include "tools/view/owners.h"
#include "tools/view/rows.h"

/* A function that was reached on one way. */
struct ppi_tree_node {
	uint32_t frame; /* one that stands for it, in the fold */
	uint32_t parent;
	uint32_t first_child, next; /* heaviest first; PPI_NO_PAIR: none */
	uint64_t weight, self_weight;
};

struct ppi_tree {
	enum ppi_edge edge;
	struct ppi_fold fold;
	struct ppi_pairs pairs; /* of parent + 1 and place: a node each */
	struct ppi_vector nodes; /* of struct ppi_tree_node */
	uint32_t first_root;     /* PPI_NO_PAIR: there is none */
	bool *is_wanted; /* by frame; NULL: begin where each thread begins */
	struct ppi_vector path; /* of the sample in hand: frames, outermost
	                         * first */
	uint64_t weight; /* of what is in the tree */
};

/* `function`: downwards (PPI_CALLEES) or upwards (PPI_CALLERS) from it; NULL
 * all. False when out of memory; ppi_tree_free is due all the same. */
bool ppi_tree_grow(struct ppi_tree *tree, const struct ppi_view *view,
                   enum ppi_edge edge, const char *function);
void ppi_tree_free(struct ppi_tree *tree);

static inline const struct ppi_tree_node *
ppi_tree_at(const struct ppi_tree *tree, uint32_t node)
{
	return &PPI_AT(&tree->nodes, struct ppi_tree_node)[node];
}

/* What a node's function is called. */
static inline const struct ppi_symbols_name *
ppi_tree_name(const struct ppi_tree *tree, const struct ppi_tree_node *node)
{
	return tree->fold.frames[node->frame];
}

#endif
